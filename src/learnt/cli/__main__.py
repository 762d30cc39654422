"""``python -m learnt.cli``."""

from learnt.cli import main

if __name__ == "__main__":
    main()
