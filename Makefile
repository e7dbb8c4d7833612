# Everything starts here. Each target does all the set-up it needs, in .venv beside this file.
PYTHON ?= python3

.PHONY: help run test test-all faults mutants lint format bench screenshots film docs audit licences clean

help:
	@echo "make run     set everything up and open the dashboard"
	@echo "make test    set everything up and run the tests, a real browser included (8 minutes on two cores)"
	@echo "make test-all  run all tests but the long rounds of faults (25 minutes on two cores)"
	@echo "make faults  run every test of killed processes and damaged files"
	@echo "make mutants  change the code in small ways and see whether the tests notice"
	@echo "make lint    check format, lint and types"
	@echo "make format  bring the code into the house format"
	@echo "make bench   run the benchmarks"
	@echo "make screenshots  take pictures of every page into docs/screenshots"
	@echo "make film    make the moving picture of the README"
	@echo "make docs    write the documentation as a site into build/site"
	@echo "make audit   look for known faults in the packages that are installed"
	@echo "make licences  write docs/licences.md anew, after requirements have changed"
	@echo "make clean   remove the virtual environment (data stays)"

run test test-all faults mutants lint format bench screenshots film docs audit licences:
	@command -v $(PYTHON) >/dev/null 2>&1 || { echo "Python is missing: install it with 'sudo apt install python3 python3-venv', then try again."; exit 1; }
	@trap : INT; $(PYTHON) tools/setup.py $@ || test $$? = 130  # Ctrl+C ends make itself, without a word

clean:
	rm -rf .venv .venv-peers .venv-audit .mypy_cache .ruff_cache .pytest_cache
