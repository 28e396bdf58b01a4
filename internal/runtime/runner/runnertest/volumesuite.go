package runnertest

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deployster/internal/runtime/runner"
)

// VolumeSuite checks the volumes and answers of runs, and the Inspector, of a Runner. It
// is separate from the Suite: a runner on another host supports none of them.
func VolumeSuite(t *testing.T, r interface {
	Runner
	runner.Inspector
}) {
	s := suite{r: r}
	for _, test := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"volume", s.volume},
		{"volume of a failure", s.volumeOfFailure},
		{"answer", s.answer},
		{"answer of an action", s.answerOfAction},
		{"answers that are none", s.wrongAnswers},
		{"files of an image", func(t *testing.T) { has(t, r) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t)
		})
	}
}

func (s suite) volume(t *testing.T) {
	filled, taken := "", ""
	kept := filepath.Join(t.TempDir(), "kept")
	spec := s.spec(t, "write", "/tmp/build/get/new", "from the program")
	spec.Cwd = "/tmp/build/get"
	spec.Volumes = []runner.Volume{{Target: "/tmp/build/get", Fill: func(dir string) error {
		filled = dir
		return os.WriteFile(filepath.Join(dir, "old"), []byte("from the host"), 0o644)
	}, Take: func(dir string) error {
		taken = dir
		return os.CopyFS(kept, os.DirFS(dir))
	}}}
	s.ok(t, spec)
	if filled == "" || filled != taken {
		t.Errorf("filled %q, took %q", filled, taken)
	}
	for name, want := range map[string]string{"old": "from the host", "new": "from the program"} {
		if b, err := os.ReadFile(filepath.Join(kept, name)); string(b) != want || err != nil {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if _, err := os.Stat(filled); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the volume is still there: %v", err)
	}
	spec.Args, spec.Volumes[0].Take = []string{"pwd"}, nil
	if res := s.ok(t, spec); strings.TrimSpace(string(res.Stdout)) != spec.Cwd {
		t.Errorf("it started in %q", res.Stdout)
	}
	full := errors.New("the store is full")
	spec.Volumes[0].Take = func(string) error { return full }
	if _, err := s.r.Run(context.Background(), spec); !errors.Is(err, full) {
		t.Errorf("nobody took it: %v", err)
	}
	began := false
	spec.Stdout = onFirst(func() { began = true })
	spec.Volumes[0].Fill = func(string) error { return full }
	if _, err := s.r.Run(context.Background(), spec); !errors.Is(err, full) || began {
		t.Errorf("what could not be filled began (%v): %v", began, err)
	}
}

func (s suite) volumeOfFailure(t *testing.T) {
	spec := s.spec(t, "writeandfail", "/v/f", "x")
	spec.Answer = &runner.Answer{Target: "/r/answer", Max: 10, Read: func(io.Reader) error {
		t.Error("the answer of a failure was read")
		return nil
	}}
	spec.Volumes = []runner.Volume{{Target: "/v", Take: func(string) error {
		t.Error("the volume of a failure was taken")
		return nil
	}}}
	if res, err := s.r.Run(context.Background(), spec); res.ExitCode != 7 || err != nil {
		t.Errorf("%+v, %v", res, err)
	}
}

func (s suite) answer(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"text", []string{"write", "/r/answer", "0123456789"}, "0123456789"},
		{"nothing in it", []string{"write", "/r/answer", ""}, ""},
		{"no file", []string{"argv"}, "none"},
		{"another file", []string{"write", "/r/other", "x"}, "none"},
	} {
		got := "not read"
		spec := s.spec(t, c.args...)
		spec.Answer = &runner.Answer{Target: "/r/answer", Max: 10, Read: func(r io.Reader) error {
			if got = "none"; r == nil {
				return nil
			}
			b, err := io.ReadAll(r)
			got = string(b)
			return err
		}}
		if s.ok(t, spec); got != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
	refused := errors.New("line 3 is wrong")
	spec := s.spec(t, "write", "/r/answer", "x")
	spec.Answer = &runner.Answer{Target: "/r/answer", Max: 10, Read: func(io.Reader) error { return refused }}
	if _, err := s.r.Run(context.Background(), spec); !errors.Is(err, refused) {
		t.Errorf("what was read wrong: %v", err)
	}
}

func (s suite) answerOfAction(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
		none bool
	}{
		{"well", []string{"write", "/r/answer", "made"}, 0, "made", false},
		{"failed", []string{"writeandfail", "/r/answer", "half"}, 7, "half", false},
		{"nothing", []string{"argv"}, 0, "", true},
		{"empty", []string{"write", "/r/answer", ""}, 0, "", false},
	} {
		spec := s.spec(t, c.args...)
		spec.Kind, spec.Answer = runner.Action, &runner.Answer{Target: "/r/answer", Max: 10}
		told := ""
		spec.Ended = func(r runner.Result, _ error) error {
			told = string(r.Answer)
			return nil
		}
		res, err := s.r.Run(context.Background(), spec)
		if err != nil || res.ExitCode != c.code || string(res.Answer) != c.want || (res.Answer == nil) != c.none || res.Fault != "" ||
			told != c.want {
			t.Errorf("%s: %+v (told %q), %v", c.name, res, told, err)
		}
	}
}

func (s suite) wrongAnswers(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"make", "link", "/r/answer", "/etc/passwd"}, "is a symbolic link"},
		{[]string{"make", "directory", "/r/answer"}, "is a directory"},
		{[]string{"make", "fifo", "/r/answer"}, "is a FIFO"},
		{[]string{"make", "sparse", "/r/answer", "1099511627776"}, "has more than 10 bytes"},
		{[]string{"write", "/r/answer", "0123456789x"}, "has more than 10 bytes"},
	} {
		spec := s.spec(t, c.args...)
		spec.Settings.Disk = 2 << 40
		spec.Answer = &runner.Answer{Target: "/r/answer", Max: 10, Read: func(io.Reader) error {
			t.Errorf("%q was read", c.args)
			return nil
		}}
		var wrong *runner.AnswerError
		if _, err := s.r.Run(context.Background(), spec); !errors.As(err, &wrong) || wrong.Reason != c.want {
			t.Errorf("%q of a query: %v", c.args, err)
		}
		spec.Kind = runner.Action
		if res, err := s.r.Run(context.Background(), spec); err != nil || res.Fault != c.want || res.Answer != nil {
			t.Errorf("%q of an action: %+v, %v", c.args, res, err)
		}
	}
}

// has checks that Has finds the probe's own files.
func has(t *testing.T, r interface {
	Runner
	runner.Inspector
}) {
	i, err := r.Resolve(context.Background(), ProbeReference)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second call may use a cache
		there, err := r.Has(context.Background(), i.Digest, "/probe", "/other", "/opt/resource/check", "/../probe")
		if err != nil || len(there) != 4 || !there[0] || !there[1] || there[2] {
			t.Errorf("%v, %v", there, err)
		}
	}
	if _, err := r.Has(context.Background(), "sha256:"+strings.Repeat("0", 64), "/probe"); !errors.Is(err, runner.ErrNoImage) {
		t.Errorf("an image that is not here: %v", err)
	}
}
