"""`python -m asnets` is the command `asnets`."""

from asnets.cli.main import main

if __name__ == "__main__":
    main()
