"""Imports a package with everything in it: what can't be imported fails. Usage: import_all.py PACKAGE"""

import importlib
import pkgutil
import sys

package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
    importlib.import_module(module.name)
