package runnertest

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
	"time"

	"deployster/internal/runtime/runner"
)

// ProbeReference is the name of the image that the Suite runs. Its Entrypoint is
// ProbeEntrypoint and its Cmd is ProbeCmd. The image has the same program also as
// /other.
const ProbeReference = "invoketest/probe:1"

// ProbeScript is the probe as a shell script, to be /probe and /other in an
// image with a usual /bin. Probe is the same in Go, for a Fake.
//
//go:embed probe.sh
var ProbeScript string

// ProbeEntrypoint returns the Entrypoint of the probe's image.
func ProbeEntrypoint() []string { return []string{"/probe", "entry"} }

// ProbeCmd returns the Cmd of the probe's image.
func ProbeCmd() []string { return []string{"argv", "default"} }

// Probe does what its first argument says; without any it prints its argument
// vector, one a line.
func Probe(ctx context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
	argv, err := s.Command(ProbeEntrypoint(), ProbeCmd())
	if err != nil {
		return fail(stderr, err)
	}
	args := argv[1:]
	if len(args) > 0 && args[0] == "entry" {
		args = args[1:]
	}
	args = append(args, "", "", "") // so that each verb has enough arguments
	switch args[0] {
	case "", "argv":
		for _, a := range argv {
			fmt.Fprintln(stdout, a)
		}
	case "exit":
		n, err := strconv.Atoi(args[1])
		if err != nil {
			return fail(stderr, err)
		}
		return n
	case "cat":
		if _, err := io.Copy(stdout, stdin); err != nil {
			return fail(stderr, err)
		}
	case "both":
		fmt.Fprintln(stdout, "to stdout")
		fmt.Fprintln(stderr, "to stderr")
	case "flood":
		n, err := strconv.ParseInt(args[1], 10, 64)
		if err = errors.Join(err, flood(stdout, 'o', n), flood(stderr, 'e', n)); err != nil {
			return fail(stderr, err)
		}
	case "endless":
		return fail(stderr, flood(stdout, 'o', 1<<62))
	case "obey", "ignore":
		return linger(ctx, args[0] == "obey", stdout)
	case "tick":
		fmt.Fprintln(stdout, "one")
		time.Sleep(time.Second)
		fmt.Fprintln(stdout, "two")
	case "make":
		return makeFile(s, args, stderr)
	case "writeandfail":
		return max(files(s, args, stdout, stderr), 7)
	case "read", "write":
		return files(s, args, stdout, stderr)
	case "env":
		fmt.Fprint(stdout, s.Settings.Env[args[1]])
	case "pwd":
		fmt.Fprintln(stdout, cmp.Or(s.Settings.Workdir, s.Cwd))
	default:
		fmt.Fprintf(stderr, "the probe knows no %s\n", args[0])
		return 99
	}
	return 0
}

func fail(stderr io.Writer, err error) int {
	fmt.Fprintln(stderr, err)
	return 1
}

func flood(w io.Writer, letter byte, n int64) error {
	chunk := make([]byte, 32<<10)
	for i := range chunk {
		chunk[i] = letter
	}
	for n > 0 {
		k, err := w.Write(chunk[:min(n, int64(len(chunk)))])
		if err != nil {
			return err
		}
		n -= int64(k)
	}
	return nil
}

// linger runs until it is asked to end. If it does not obey, it runs until its output
// is closed, which stands for being killed.
func linger(ctx context.Context, obey bool, stdout io.Writer) int {
	fmt.Fprintln(stdout, "ready")
	for {
		if obey && ctx.Err() != nil {
			fmt.Fprintln(stdout, "got TERM")
			return 42
		}
		if _, err := stdout.Write(nil); err != nil {
			return 137
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// makeFile creates a file that is not a regular file.
func makeFile(s runner.Spec, args []string, stderr io.Writer) int {
	host, writable, ok := Path(s, args[2])
	if !ok || !writable {
		return fail(stderr, os.ErrPermission)
	}
	var err error
	switch args[1] {
	case "link":
		err = os.Symlink(args[3], host)
	case "directory":
		err = os.Mkdir(host, 0o755)
	case "fifo":
		err = syscall.Mkfifo(host, 0o644)
	case "sparse":
		var size int64
		if size, err = strconv.ParseInt(args[3], 10, 64); err == nil {
			err = errors.Join(os.WriteFile(host, nil, 0o644), os.Truncate(host, size))
		}
	}
	if err != nil {
		return fail(stderr, err)
	}
	return 0
}

func files(s runner.Spec, args []string, stdout, stderr io.Writer) int {
	host, writable, ok := Path(s, args[1])
	switch {
	case !ok:
		return fail(stderr, os.ErrNotExist)
	case args[0] == "read":
		b, err := os.ReadFile(host)
		if err != nil {
			return fail(stderr, err)
		}
		_, _ = stdout.Write(b)
	case !writable:
		return fail(stderr, os.ErrPermission)
	default:
		if err := os.WriteFile(host, []byte(args[2]), 0o644); err != nil {
			return fail(stderr, err)
		}
	}
	return 0
}
