# Sourced by reproduce and check: makes .venv hold exactly what requirements.lock says.
# Afterwards $VENV_PYTHON is its interpreter. Speaks only when there is something to do.

export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 BLIS_NUM_THREADS=1
export VECLIB_MAXIMUM_THREADS=1 NUMEXPR_NUM_THREADS=1
VENV_PYTHON="$PWD/.venv/bin/python"

fail() {
    echo "${0##*/}: $1" >&2
    exit 1
}

# Prints the first Python >= 3.11 that can make virtual environments.
find_python() {
    local name
    for name in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11 python; do
        if "$name" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' \
            >/dev/null 2>&1; then
            command -v "$name"
            return
        fi
    done
    return 1
}

# What .venv is made of: the lock, the project's metadata, the place and the Python.
setup_stamp() {
    cat requirements.lock pyproject.toml
    echo "$PWD"
    "$VENV_PYTHON" -c 'import sys; print(sys.version)' 2>/dev/null
}

set_up() {
    local stamp=.venv/fivebo-stamp log=.venv/setup.log python
    if [ -f "$stamp" ] && setup_stamp | cmp -s - "$stamp"; then
        return
    fi
    if ! "$VENV_PYTHON" -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$(find_python) || fail "no Python >= 3.11 with venv found: install one (Debian, Ubuntu: apt install python3 python3-venv), or name it: PYTHON=/path/to/python3 ./${0##*/}"
        echo "Setting up .venv with $("$python" --version) (once, one to three minutes)"
        rm -rf .venv 2>/dev/null
        "$python" -m venv .venv || fail "cannot make .venv in $PWD: make the folder writable and free 2 GB on its disk"
    else
        echo "Bringing .venv up to date with requirements.lock"
    fi
    if ! "$VENV_PYTHON" -m pip install --disable-pip-version-check --require-hashes \
        --requirement requirements.lock >"$log" 2>&1; then
        explain_pip "$log"
    fi
    "$VENV_PYTHON" -m pip install --disable-pip-version-check --no-index --no-build-isolation \
        --no-deps --editable . >>"$log" 2>&1 ||
        fail "cannot install the project itself; the reason is at the end of $log"
    setup_stamp >"$stamp"
}

explain_pip() {
    if grep -qiE 'no space left' "$1"; then
        fail "the disk of $PWD is full: free 2 GB and run ./${0##*/} again"
    elif grep -qiE 'connection|timed out|name resolution|network|proxy|NewConnectionError' "$1"; then
        fail "cannot download packages: connect to the network (needed for the first set-up only) and run ./${0##*/} again; details in $1"
    fi
    fail "pip could not install requirements.lock; the reason is at the end of $1"
}
