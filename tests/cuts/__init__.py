"""Random cuts through commands: signals, time limits and full disks, and whether the commands go on afterwards."""
