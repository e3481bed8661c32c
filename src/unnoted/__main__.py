"""`python -m unnoted` is the command `unnoted`."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        # `python -m` puts the working folder first, where a `yaml.py` would be taken for the library.
        del sys.path[0]
    from unnoted.cli.main import main

    main()
