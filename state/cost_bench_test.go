package state

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"deployster/internal/base/encryption"
)

// BenchmarkRecord is what one resource costs: that its action starts, how it
// ended, and that it is VALID, each on the disk before the next. It gives the
// median of one record, and the bytes that were written for each resource, in
// the journal and with the state file that it is folded into.
func BenchmarkRecord(b *testing.B) {
	for _, form := range []string{"clear", "encrypted"} {
		sizes := []int{10, 100, 1000, 5000}
		if testing.Short() { // only checks that it runs
			sizes = sizes[:1]
		}
		for _, resources := range sizes {
			b.Run(fmt.Sprintf("%s/resources=%d", form, resources), func(b *testing.B) {
				for range b.N {
					recordAll(b, form == "encrypted", resources)
				}
			})
		}
	}
}

// recordAll records three facts for each of so many resources.
func recordAll(b *testing.B, encrypted bool, resources int) {
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	mode := encryption.Decrypt
	if encrypted {
		mode = encryption.Encrypt
	}
	keys := encryption.New(mode, func() (encryption.Keys, error) {
		return encryption.Keys{Recipients: []string{"age1w23q6el8wr3jf2dugnsasf8c5tmhypey4jmxc9lvrzn2wkv5wsyqtrgmug"}}, nil
	})
	path := filepath.Join(b.TempDir(), "s.json")
	s, err := Open(b.Context(), File(path), Options{Keys: keys})
	must(err)
	j, err := s.Begin("plan", "")
	must(err)
	took := make([]time.Duration, 0, 3*resources)
	for i := range resources {
		addr := fmt.Sprintf("module.web.node[%d]", i)
		for _, fact := range []func() error{
			func() error {
				return j.ActionStarted(Start{Address: addr, Action: "make", Key: "0123456789abcdef/" + addr + "/1"})
			},
			func() error { return j.ActionEnded(addr, "make", End{}) },
			func() error { return j.Valid(addr, full()) },
		} {
			began := time.Now()
			must(fact())
			took = append(took, time.Since(began))
		}
	}
	info, err := os.Stat(path + ".journal")
	must(err)
	must(j.Finish(StatusOK))
	must(s.Close())
	file, err := os.Stat(path)
	must(err)
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms/record")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms/record")
	b.ReportMetric(float64(info.Size())/float64(resources), "journal-bytes/resource")
	b.ReportMetric(float64(file.Size())/float64(resources), "state-bytes/resource")
	b.ReportMetric(0, "ns/op")
}
