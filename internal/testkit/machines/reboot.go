package machines

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Reboot ends all processes of the machine at once, as a power failure would, and boots it with the files that it has.
func (m *Machine) Reboot() error {
	namespace, err := os.Open(filepath.Join("/proc", strconv.Itoa(m.nspawn.Process.Pid), "ns/mnt"))
	if err != nil {
		return err
	}
	defer func() { _ = namespace.Close() }() // it only kept the mounts
	if err := errors.Join(syscall.Kill(m.leader, syscall.SIGKILL), m.nspawn.Process.Kill()); err != nil {
		return err
	}
	<-m.ended
	for limit := time.Now().Add(bootTime); m.answers(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			return fmt.Errorf("the machine %s does not end", m.Name)
		}
	}
	m.ended = make(chan struct{})
	console, err := os.Create(filepath.Join(m.home, "console"))
	if err != nil {
		return err
	}
	join := ""
	for _, group := range m.groups {
		join += fmt.Sprintf("echo $$ >%s/cgroup.procs; ", group)
	}
	dir := filepath.Join(runDir, m.Name)
	script := join + `exec nsenter --mount=/proc/self/fd/3 --wdns="$1" sh start.sh "$2" "$1"`
	m.nspawn = exec.Command("sh", "-c", script, "reboot", dir, m.Name)
	m.nspawn.ExtraFiles = []*os.File{namespace}
	m.nspawn.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return m.start(console)
}
