package containerd

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// runsOfStdin is how often the test below runs: DEPLOYSTER_STDIN_RUNS, or few.
func runsOfStdin(t *testing.T) int {
	t.Helper()
	text, ok := os.LookupEnv("DEPLOYSTER_STDIN_RUNS")
	if !ok {
		return 40
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("DEPLOYSTER_STDIN_RUNS: %v", err)
	}
	return n
}

// TestStdin_Arrives runs an image many times, 8 at a time, that reads all of
// its stdin and prints it: no run may hang, and no byte may be lost.
func TestStdin_Arrives(t *testing.T) {
	t.Parallel()
	n := runsOfStdin(t)
	for name, options := range map[string]func(testing.TB) Options{"embedded": embedded, "daemon": ownDaemon} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := open(t, options(t))
			// The shell's own buffer is what once hung for ever.
			dgst := pack(t, r, imagestore.PackOptions{Entrypoint: []string{"/bin/sh", "-c", `in=$(cat; echo .); printf %s "${in%.}"`}}, nil)
			var group errgroup.Group
			group.SetLimit(8)
			for i := range n {
				group.Go(func() error {
					in := letters(i)
					res, err := r.Run(context.Background(), runner.Spec{Name: strconv.Itoa(i), Kind: runner.Query, Digest: dgst, Stdin: in, Timeout: 2 * time.Minute})
					if err != nil || res.ExitCode != 0 || !bytes.Equal(res.Stdout, in) {
						t.Errorf("run %d: %d bytes in, %d out, exit %d, error %v, stderr %q", i, len(in), len(res.Stdout), res.ExitCode, err, res.Stderr)
					}
					return nil
				})
			}
			_ = group.Wait() // the functions report by themselves
			nothingLeft(t, r)
		})
	}
}

// letters returns text of many lengths: none, few, around the sizes of pipes and
// pages, and many.
func letters(i int) []byte {
	sizes := []int{0, 1, 4095, 4096, 4097, 65535, 65536, 65537, 200_000}
	b := make([]byte, sizes[i%len(sizes)])
	for i := range b {
		b[i] = byte('a' + rand.IntN(26))
	}
	return b
}
