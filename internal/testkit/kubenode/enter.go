package kubenode

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"deployster/internal/testkit/cgroups"
)

// The program runs three times: outside, as the first process of the new namespaces, and as the test.
const (
	roleVariable = "KUBENODE_ROLE"
	dirVariable  = "KUBENODE_DIR" // of the node, which the outside process makes and removes
	roleInit     = "init"
	roleTest     = "test"
)

// cgroup is the parent of the control groups of all Pods.
const cgroup = "deployster-kubenode"

// Main is the body of a TestMain: it runs the tests in namespaces of their own, and returns their exit code.
func Main(m interface{ Run() int }) int {
	var code int
	var err error
	if External() {
		return m.Run()
	}
	switch os.Getenv(roleVariable) {
	case roleTest:
		return m.Run()
	case roleInit:
		code, err = reap()
	default:
		code, err = enter()
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "kubenode:", err)
		return 1
	}
	return code
}

// enter runs this program in new namespaces, and removes what they leave: control groups and a directory.
func enter() (code int, err error) {
	if os.Geteuid() != 0 {
		return 1, errors.New("a node needs root: run the test as root")
	}
	dir, err := os.MkdirTemp("", "kubenode")
	if err != nil {
		return 1, err
	}
	if err := os.Chmod(dir, 0o755); err != nil { // commands of other users read it
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	groups, err := cgroups.New(cgroup)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, groups.End()) }()
	cmd := again(roleInit)
	cmd.Env = append(cmd.Env, dirVariable+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL,
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC}
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM) // the test has them too, and ends
	return ended(cmd.Run())
}

// reap is the first process: it starts the test, and waits for all that lose their parent. The end of this process is
// the end of all others.
func reap() (int, error) {
	for _, args := range [][]string{
		{"mount", "--make-rprivate", "/"},
		{"mount", "-t", "proc", "proc", "/proc"},
		{"ip", "link", "set", "lo", "up"},
		{"ip", "address", "add", nodeAddress + "/32", "dev", "lo"},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return 1, fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out)
		}
	}
	cmd := again(roleTest)
	cmd.Env = append(cmd.Env, dirVariable+"="+os.Getenv(dirVariable))
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 1, err
		case pid == cmd.Process.Pid && status.Signaled():
			return 1, fmt.Errorf("the test was ended: %s", status.Signal())
		case pid == cmd.Process.Pid:
			return status.ExitStatus(), nil
		}
	}
}

// again is this program once more, in another role.
func again(role string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, roleVariable+"=") && !strings.HasPrefix(variable, dirVariable+"=") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, roleVariable+"="+role)
	return cmd
}

// ended is the exit code of a program that has run.
func ended(err error) (int, error) {
	if exit, is := errors.AsType[*exec.ExitError](err); is && exit.Exited() {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}

// Programs returns the directory with the programs of a node: bin/kube of this module.
func Programs() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err = os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == "/" {
			return "", err
		}
		dir, err = filepath.Dir(dir), nil
	}
	if err != nil {
		return "", err
	}
	at := filepath.Join(dir, "bin", "kube")
	if _, err := os.Stat(filepath.Join(at, "onenode")); err != nil {
		return "", fmt.Errorf("%w: make test-kube builds the programs of a node", err)
	}
	return at, nil
}
