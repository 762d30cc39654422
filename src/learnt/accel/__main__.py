"""``python -m learnt.accel``."""

from learnt.accel._command import main

if __name__ == "__main__":
    main()
