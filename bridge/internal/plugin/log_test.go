package plugin

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
)

// testTail returns a tail and the other end of its pipe, where writing does not wait for ever.
func testTail(t *testing.T) (*tail, *os.File) {
	t.Helper()
	log, stderr, err := newTail()
	if err == nil {
		err = stderr.SetWriteDeadline(time.Now().Add(time.Minute))
	}
	if err != nil {
		t.Fatal(err)
	}
	return log, stderr
}

// TestTail_FollowsWhatWasWrittenMeanwhile writes a log that nobody has read when it is
// followed, and when that ends: as when the answer to a call comes before its log.
func TestTail_FollowsWhatWasWrittenMeanwhile(t *testing.T) {
	log, stderr := testTail(t)
	write := func(text string) {
		t.Helper()
		if _, err := stderr.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	follow := func() (said string) {
		var to bytes.Buffer
		end := log.follow(&to)
		write("of the call\n")
		end()
		write("after the call\n")
		return to.String()
	}
	write("before the call\n")
	for range 2 {
		if said := follow(); said != "of the call\n" {
			t.Errorf("the call has the log %q", said)
		}
	}
	many := strings.Repeat(strings.Repeat("a", 99)+"\n", pipeSize/100) // as much as fits in the pipe
	var to bytes.Buffer
	end := log.follow(&to)
	write(many)
	if end(); to.String() != many {
		t.Errorf("%d bytes of %d were copied", to.Len(), len(many))
	}
	write("the end")
	if said := log.String(); !strings.HasSuffix(said, "\nthe end") || strings.Count(said, "\n") != keptLines {
		t.Errorf("the last lines are %q", said)
	}
	if err := stderr.Close(); err != nil {
		t.Fatal(err)
	}
	log.read()
	if said := log.String(); !strings.HasSuffix(said, "\nthe end") {
		t.Errorf("when it has ended, the last lines are %q", said)
	}
}

// TestTail_IsReadToItsEnd writes a log that is read meanwhile, as that of a provider.
func TestTail_IsReadToItsEnd(t *testing.T) {
	log, stderr := testTail(t)
	var to bytes.Buffer
	end := log.follow(&to)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		log.read()
	}()
	want := strings.Repeat(strings.Repeat("b", 999)+"\n", 1000)
	if _, err := stderr.WriteString(want); err != nil {
		t.Fatal(err)
	}
	if end(); to.String() != want {
		t.Errorf("%d bytes of %d were copied", to.Len(), len(want))
	}
	if err := stderr.Close(); err != nil {
		t.Fatal(err)
	}
	<-ended
}
