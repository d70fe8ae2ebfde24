"""What a policy guarantees."""
