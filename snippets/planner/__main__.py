"""python -m snippets.planner CONFIG.json --gpu rtx-4090 --max-model-len 8192"""

import sys

from snippets.planner.command.run import main

if __name__ == "__main__":
    sys.exit(main())
