package diag

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestCrash_ReportsWhere(t *testing.T) {
	t.Parallel()
	var d *Diagnostic
	func() {
		defer func() { d = Crash(recover(), debug.Stack(), "Nothing more was started.") }()
		breaks(nil)
	}()
	if !strings.Contains(d.Detail, "nil map") || !strings.Contains(d.Detail, "crash_test.go:") || !strings.Contains(d.Detail, "deployster/internal/base/diag.breaks") ||
		!strings.Contains(d.Detail, "Nothing more was started.") || strings.Contains(d.Detail, "runtime/debug") {
		t.Error(d.Detail)
	}
}

func breaks(m map[string]int) { m["a"] = 1 }
