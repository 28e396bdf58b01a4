package durable

import (
	"encoding/json"
	"os"
	"testing"
	"time"
)

// TestLockFormat_IsPinned: who holds a lock is read by other versions too.
func TestLockFormat_IsPinned(t *testing.T) {
	t.Parallel()
	want := Holder{PID: 4194305, Host: "a host", Command: "deployster apply", Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	f, err := os.Open("testdata/format-1.lock")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := readHolder(f); got == nil || *got != want {
		t.Errorf("got %+v", got)
	}
	now, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	was, err := os.ReadFile(f.Name())
	if err != nil || string(was) != string(now)+"\n" {
		t.Errorf("%s was written as %s: the lock file says something else now, which older versions cannot read", now, was)
	}
}
