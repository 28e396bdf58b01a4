package programs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"deployster/internal/runtime/runner"
)

// The limits of the processes of a container, as here: its open files, and no core dumps, which
// would have secrets.
const (
	openFiles    = 1024
	openFilesMax = 4096
)

// Confine limits this process and the programs that it starts, whose uid may be its own: they
// can read nothing of its memory.
func Confine() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("cannot keep its memory from programs: %w", err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}); err != nil {
		return fmt.Errorf("cannot switch core dumps off: %w", err)
	}
	var now syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &now); err != nil {
		return err
	}
	most := min(openFilesMax, now.Max)
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: min(openFiles, most), Max: most})
}

// environment returns the environment of a program: that of the container, with the type's settings.
func environment(container []string, own map[string]string) []string {
	env := slices.DeleteFunc(slices.Clone(container), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		_, replaced := own[name]
		return replaced
	})
	for name, value := range own {
		env = append(env, name+"="+value)
	}
	return env
}

// find returns the path of a program, as a shell would find it.
func find(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, nil
	}
	list := ""
	for _, e := range env {
		if value, is := strings.CutPrefix(e, "PATH="); is {
			list = value
		}
	}
	for _, in := range strings.Split(list, ":") {
		if !filepath.IsAbs(in) {
			in = filepath.Join(dir, in)
		}
		path := filepath.Join(in, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() && unix.Access(path, unix.X_OK) == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%q is in no directory of PATH", name)
}

// pipes are the ends of a program's stdin, stdout and stderr.
type pipes struct{ own, given [3]*os.File }

func (p *pipes) close(files [3]*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close() // an end of a pipe
		}
	}
}

func openPipes() (p pipes, err error) {
	for i := range p.own {
		read, write, err := os.Pipe()
		if err != nil {
			p.close(p.own)
			p.close(p.given)
			return p, err
		}
		if i == 0 {
			p.own[i], p.given[i] = write, read
		} else {
			p.own[i], p.given[i] = read, write
		}
	}
	return p, nil
}

// begin starts the program of a Spec, and returns it with this process's ends of its pipes.
func (r *Runner) begin(s runner.Spec) (*child, pipes, error) {
	entrypoint, cmd, known := r.o.Image(s.Digest)
	if !known {
		return nil, pipes{}, fmt.Errorf("%s: %w", s.Digest, runner.ErrNoImage)
	}
	if len(s.Volumes) > 0 || s.Answer != nil {
		return nil, pipes{}, fmt.Errorf("%s has files of its own, which a Pod does not give it", s.Name)
	}
	argv, err := s.Command(entrypoint, cmd)
	if err != nil {
		return nil, pipes{}, err
	}
	dir := s.Cwd
	if dir == "" {
		dir = r.dir
	}
	env := environment(environment(r.env, s.Settings.Env), s.SecretEnv)
	path, err := find(argv[0], dir, env)
	if err != nil {
		return nil, pipes{}, fmt.Errorf("%s cannot be started: %w", s.Name, err)
	}
	p, err := openPipes()
	if err != nil {
		return nil, pipes{}, err
	}
	attr := &syscall.ProcAttr{Dir: dir, Env: env}
	for _, f := range p.given {
		attr.Files = append(attr.Files, f.Fd()) // which makes it a blocking one
	}
	var c *child
	if err = r.note(s); err == nil {
		c, err = r.reaper.start(path, argv, attr)
	}
	p.close(p.given)
	if err != nil {
		p.close(p.own)
		return nil, pipes{}, fmt.Errorf("%s cannot be started: %s: %w", s.Name, path, err)
	}
	return c, p, nil
}
