package place

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"deployster/internal/base/diag"
)

// Who may not write to the directory of the state reads that first, and not of a lock.
func TestLockError_NoPermission(t *testing.T) {
	t.Parallel()
	f := localFile{state: "/infra/s.json", lockFile: "/infra/s.json.lock"}
	err := f.lockError(&os.PathError{Op: "open", Path: f.lockFile, Err: syscall.EACCES}, 0)
	d, ok := errors.AsType[*diag.Diagnostic](err)
	if !ok || d.Summary != "No permission for this state" || !errors.Is(err, os.ErrPermission) {
		t.Fatalf("%v", err)
	}
	if !strings.HasPrefix(d.Detail, "This user may not write next to the state file, in /infra (open /infra/s.json.lock: permission "+
		"denied). ") {
		t.Error(d.Detail)
	}
	if err := f.lockError(syscall.EIO, 0); !strings.Contains(err.Error(), "Cannot lock the state") {
		t.Error(err)
	}
}
