"""The paper's experiments as data, what runs them, and the report."""
