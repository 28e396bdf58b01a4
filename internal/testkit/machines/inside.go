package machines

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// insideVariable is set for a test program that runs in a machine.
const insideVariable = "TEST_INSIDE_A_MACHINE"

// RunInside runs the tests of this program in a machine of their own, and returns the exit code:
// TestMain calls it. prepare are scripts that run there before.
func RunInside(m *testing.M, prepare ...string) int { return RunInsideWith(m, nil, prepare...) }

// RunInsideWith is RunInside for tests that need programs of this machine, which are copied to /usr/local/bin before.
func RunInsideWith(m *testing.M, programs []string, prepare ...string) int {
	flag.Parse()
	if os.Getenv(insideVariable) != "" || strings.HasPrefix(flag.Lookup("test.run").Value.String(), mutantsTest) {
		return m.Run()
	}
	code, err := runInside(programs, prepare)
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func runInside(programs, prepare []string) (code int, err error) {
	machine, err := Boot()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, machine.End()) }()
	const directory = "/usr/local/bin/"
	program := directory + "inside.test"
	if err := copyFile("/proc/self/exe", filepath.Join(machine.Root(), program)); err != nil {
		return 0, err
	}
	for _, one := range programs {
		if err := copyFile(one, filepath.Join(machine.Root(), directory, filepath.Base(one))); err != nil {
			return 0, fmt.Errorf("%w: .ci/setup test-machines builds it", err)
		}
	}
	if err := machine.Ready(); err != nil {
		return 0, err
	}
	for _, script := range prepare {
		if _, err := machine.Shell(script); err != nil {
			return 0, err
		}
	}
	args := []string{"env", insideVariable + "=1", program}
	for _, arg := range os.Args[1:] {
		if !strings.HasPrefix(arg, "-test.testlogfile=") { // a path of this machine
			args = append(args, arg)
		}
	}
	c := machine.SSH(args...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	err = c.Run()
	if exit, ended := errors.AsType[*exec.ExitError](err); ended {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// copyFile copies a program.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
