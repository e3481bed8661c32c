"""`python -m unnoted` is the command `unnoted`."""

from unnoted.cli.main import main

if __name__ == "__main__":
    main()
