package containerd

import (
	"context"
	"testing"
	"time"

	"deployster/internal/invoke"
)

func TestSmoke(t *testing.T) {
	o := embedded(t)
	start := time.Now()
	r := open(t, o)
	t.Logf("open: %s", time.Since(start))
	start = time.Now()
	d := pack(t, r, PackOptions{Entrypoint: []string{"/bin/cat"}}, nil)
	t.Logf("pack: %s", time.Since(start))
	for range 5 {
		res, err := r.Run(context.Background(), invoke.Spec{Name: "smoke", Kind: invoke.Query, Digest: d, Stdin: []byte("hello")})
		t.Logf("%s %q %q %d %v", res.Duration, res.Stdout, res.Stderr, res.ExitCode, err)
		if string(res.Stdout) != "hello" {
			t.Fail()
		}
	}
}
