// Command booted boots Debian machines, runs a program beside them, and ends them with it:
//
//	booted 3 ./run.sh
//
// The program finds their names in MACHINES, their addresses in ADDRESSES, and an ssh_config that
// has all of them in SSH_CONFIG.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"deployster/internal/testkit/machines"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		if exit, ended := errors.AsType[*exec.ExitError](err); ended {
			os.Exit(exit.ExitCode())
		}
		_, _ = fmt.Fprintln(os.Stderr, "booted:", err)
		os.Exit(1)
	}
}

func run(args []string) (err error) {
	if len(args) < 2 {
		return errors.New("usage: booted NUMBER PROGRAM [ARGUMENT...]")
	}
	count, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "booted")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var names, addresses []string
	var config strings.Builder
	for range count {
		m, bootErr := machines.Boot()
		if bootErr != nil {
			return bootErr
		}
		defer func() { err = errors.Join(err, m.End()) }()
		if err := m.Ready(); err != nil {
			return err
		}
		names, addresses = append(names, m.Name), append(addresses, m.Address)
		config.WriteString(m.SSHConfig())
	}
	file := filepath.Join(dir, "ssh_config")
	if err := os.WriteFile(file, []byte(config.String()), 0o600); err != nil {
		return err
	}
	c := exec.CommandContext(ctx, args[1], args[2:]...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.Env = append(os.Environ(), "MACHINES="+strings.Join(names, " "), "ADDRESSES="+strings.Join(addresses, " "), "SSH_CONFIG="+file)
	return c.Run()
}
