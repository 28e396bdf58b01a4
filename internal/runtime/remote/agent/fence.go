package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"deployster/internal/base/durable"
	"deployster/internal/base/proc"
	"deployster/internal/runtime/remote"
)

// fence records the latest client that was admitted to act for a state, and who serves it.
type fence struct {
	remote.Fence
	PID     int    `json:"pid"`     // of the agent that serves the client
	Started string `json:"started"` // when that process was started: pids are reused
}

// killLimit is how long a killed agent may take to end.
const killLimit = 10 * time.Second

// enter makes a client the one that acts for its state, and kills the agent of the
// client before it. It refuses a client whose state is older.
func (m *Machine) enter(ctx context.Context, h remote.Hello) error {
	path, err := m.fencePath(h)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	lock, err := durable.WaitLock(ctx, path+".lock", true, "deployster-host far")
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }() // the lock ends with the process anyway
	before, err := readFence(path)
	if err != nil {
		return err
	}
	if err := before.Refuses(h, "this machine"); err != nil {
		return fmt.Errorf("%w. If it is the newer state that was lost, remove %s there", err, path)
	}
	if err := end(before); err != nil {
		return err
	}
	mine := fence{before.Admit(h), os.Getpid(), proc.Of(os.Getpid()).Since()}
	if err := writeFence(path, mine); err != nil {
		return err
	}
	m.mine = mine
	return nil
}

// Acts implements remote.Place. It reads the fence before every action, and notes the first one in it.
func (m *Machine) Acts(ctx context.Context, h remote.Hello) error {
	if h.Epoch == 0 {
		return errors.New("this client may only read")
	}
	path, err := m.fencePath(h)
	if err != nil {
		return err
	}
	m.acting.Lock()
	defer m.acting.Unlock()
	if err := m.holds(path); err != nil || m.mine.Acted {
		return err
	}
	lock, err := durable.WaitLock(ctx, path+".lock", true, "deployster-host far")
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }() // the lock ends with the process anyway
	if err := m.holds(path); err != nil {
		return err
	}
	mine := m.mine
	mine.Acted = true
	if err := writeFence(path, mine); err != nil {
		return err
	}
	m.mine = mine
	return nil
}

// holds returns an error if the fence is not of the client that was admitted.
func (m *Machine) holds(path string) error {
	now, err := readFence(path)
	if err == nil && now != m.mine {
		err = now.Taken()
	}
	return err
}

func writeFence(path string, f fence) error {
	content, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return durable.WriteFile(path, content, 0o600)
}

// fencePath returns the path of the fence of a client's state.
func (m *Machine) fencePath(h remote.Hello) (string, error) {
	if h.Lineage == "" || strings.ContainsAny(h.Lineage, "/\x00") || h.Lineage[0] == '.' {
		return "", fmt.Errorf("the client's state has no lineage that names one: %q", h.Lineage)
	}
	return filepath.Join(m.o.DataDir, "fence", h.Lineage), nil
}

func readFence(path string) (fence, error) {
	var f fence
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return f, nil
	}
	if err == nil {
		err = json.Unmarshal(content, &f)
	}
	if err != nil {
		return f, fmt.Errorf("the record of the acting client cannot be read: %w", err)
	}
	return f, nil
}

// end kills the agent of the client before, if it still runs, and waits for its end.
func end(before fence) error {
	if before.PID == 0 || before.PID == os.Getpid() || before.Started == "" || proc.Of(before.PID).Since() != before.Started {
		return nil
	}
	if err := syscall.Kill(before.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("the agent of %s cannot be ended: %w", before.Process, err)
	}
	for limit := time.Now().Add(killLimit); proc.Of(before.PID).Since() == before.Started; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			return fmt.Errorf("the agent of %s (process %d) does not end", before.Process, before.PID)
		}
	}
	return nil
}
