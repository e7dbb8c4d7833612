# Everything starts here. Each target does all the set-up it needs, in .venv next to this file.
PYTHON ?= python3

.PHONY: help run test test-all faults mutants lint format bench screenshots film docs audit licences clean

help:
	@echo "make run     set everything up and open the dashboard"
	@echo "make test    set everything up and run the tests, a real browser included (8 minutes on two cores)"
	@echo "make test-all  run all tests except the long rounds of faults (25 minutes on two cores)"
	@echo "make faults  run every test of killed processes and damaged files"
	@echo "make mutants  change the code in small ways and see whether the tests notice"
	@echo "make lint    check format, lint and types"
	@echo "make format  format the code in the house style"
	@echo "make bench   run the benchmarks"
	@echo "make screenshots  take pictures of every page into docs/screenshots"
	@echo "make film    make the animated picture in the README"
	@echo "make docs    write the documentation as a site into build/site"
	@echo "make audit   look for known vulnerabilities in the installed packages"
	@echo "make licences  rewrite docs/licences.md after the requirements have changed"
	@echo "make clean   remove the virtual environment (data stays)"

run test test-all faults mutants lint format bench screenshots film docs audit licences:
	@command -v $(PYTHON) >/dev/null 2>&1 || { echo "Python is missing: install it with 'sudo apt install python3 python3-venv', then try again."; exit 1; }
	@trap : INT; $(PYTHON) tools/setup.py $@ || test $$? = 130  # Ctrl+C ends make itself, silently

clean:
	rm -rf .venv .venv-peers .venv-audit .mypy_cache .ruff_cache .pytest_cache
