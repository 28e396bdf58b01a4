package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// question is how the command asks, and the prompt of the console.
var question = regexp.MustCompile(`\[y/N(/a/q/\?)?\] |\[yes/N\] |Value( \(not shown\))?: |\n> `)

// onTerminal runs a command on a terminal of its own, waits until it asks, and
// types an answer: \n, \x03 (Ctrl-C) and \x04 (end of input) as in Go. What
// stood on the terminal is in the file "terminal" afterwards.
func onTerminal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: on-terminal CODE ANSWER COMMAND...")
	}
	answer, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	terminal, program, err := openTerminal()
	ts.Check(err)
	defer terminal.Close()
	path, err := lookPath(ts.Getenv("PATH"), args[2])
	ts.Check(err)
	cmd := exec.Command(path, args[3:]...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), program, program, program
	cmd.Env = append(os.Environ(), "HOME="+ts.Getenv("HOME"))
	for _, name := range []string{"DEPLOYSTER_DATA_DIR", "DEPLOYSTER_IDLE_EXIT", "DEPLOYSTER_KEEP", "DEPLOYSTER_RUNC", "PATH", "NO_COLOR",
		"XDG_STATE_HOME", "DEPLOYSTER_CERTS_DIR", "DOCKER_CONFIG"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	ts.Check(cmd.Start())
	ts.Check(program.Close())
	var mu sync.Mutex
	var seen bytes.Buffer
	asked, closed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(closed)
		for buf := make([]byte, 4096); ; {
			n, err := terminal.Read(buf)
			mu.Lock()
			was := question.Match(seen.Bytes())
			seen.Write(buf[:n])
			if !was && question.Match(seen.Bytes()) {
				close(asked)
			}
			mu.Unlock()
			if err != nil {
				return // its last writer is gone
			}
		}
	}()
	select {
	case <-asked:
		_, err = terminal.WriteString(answer)
		ts.Check(err)
	case <-closed:
	case <-time.After(time.Minute):
		ts.Check(cmd.Process.Kill())
	}
	giveUp := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() }) // it has ended, or does so now
	err = cmd.Wait()
	giveUp.Stop()
	<-closed
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		ts.Check(err)
	}
	ts.Check(os.WriteFile(ts.MkAbs("terminal"), seen.Bytes(), 0o600))
	if got := cmd.ProcessState.ExitCode(); fmt.Sprint(got) != args[0] {
		ts.Fatalf("exit code %d, want %s; the terminal:\n%s", got, args[0], seen.Bytes())
	}
}

// lookPath finds a program on the script's PATH.
func lookPath(list, name string) (string, error) {
	for _, dir := range strings.Split(list, ":") {
		if path := dir + "/" + name; exists(path) {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: not found", name)
}

// openTerminal makes a pseudo-terminal: the person's side, and the program's.
func openTerminal() (person, program *os.File, err error) {
	person, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	err = unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0)
	if err == nil {
		var number int
		if number, err = unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN); err == nil {
			program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, person.Close())
	}
	return person, program, nil
}
