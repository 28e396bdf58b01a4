package supervise

import (
	"time"

	"deployster/containerd/runfiles"
)

// restsAfter is how long a program must have printed nothing until its outputs are watched instead of measured.
const restsAfter = 4 * time.Second

// sizes decides when the outputs of a program are measured: often while it prints, and not at
// all while it has printed nothing for long.
type sizes struct {
	files   *runfiles.Files
	growth  *runfiles.Growth // nil = they are measured all the time
	due     *time.Timer
	written time.Time
	size    int64
	grown   <-chan struct{} // nil = they do not rest
	forget  func()
}

func newSizes(f *runfiles.Files, g *runfiles.Growth) *sizes {
	return &sizes{files: f, growth: g, due: time.NewTimer(runfiles.WatchEvery), written: time.Now()}
}

func (z *sizes) now() int64 { return z.files.Stdout.Size() + z.files.Stderr.Size() }

// checked must be called after each check that was due.
func (z *sizes) checked() {
	if now := z.now(); now != z.size {
		z.written, z.size = time.Now(), now
	}
	if quiet := time.Since(z.written); quiet < restsAfter || !z.rest() {
		z.due.Reset(runfiles.Pause(4*quiet, runfiles.WatchEvery))
	}
}

// rest has the outputs watched, and reports whether nothing was printed before that began.
func (z *sizes) rest() (rests bool) {
	if z.growth == nil {
		return false
	}
	if z.grown, z.forget, rests = z.growth.Await(z.files.Stdout, z.files.Stderr); rests && z.now() != z.size {
		z.wake()
		return false
	}
	return rests
}

// wake must be called when the outputs have grown.
func (z *sizes) wake() {
	z.stop()
	z.due.Reset(runfiles.WatchEvery)
}

// stop must be called when nothing is due any more.
func (z *sizes) stop() {
	z.due.Stop()
	if z.grown != nil {
		z.forget()
		z.grown = nil
	}
}
