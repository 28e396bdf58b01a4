package containerd

import (
	"context"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"deployster/internal/runner"
)

// takeKept gives a worker that an earlier command has left, if there is one that
// could stand for u, and is well. What is not well is ended.
func (r *Runtime) takeKept(u *run) (*run, bool) {
	for range keptPerKey {
		k, stdin, before := u.askKeeper()
		if k == nil {
			return nil, false
		}
		k.talk = newProcess(r)
		k.talk.stdin, k.talk.before = stdin, before
		if k.isWell() && k.reopen() == nil {
			return k, true
		}
		k.discard()
	}
	return nil, false
}

// askKeeper asks the server for what it keeps that could stand for u: a run, the
// file that came with its owner's lock, and how often it was asked. nil = nothing.
func (u *run) askKeeper() (k *run, file *os.File, asked int64) {
	c, err := u.r.dialKeeper()
	if err != nil {
		return nil, nil, 0
	}
	var m keepMessage
	var lock *os.File
	if err = sendKept(c, keepMessage{Key: u.key}); err == nil {
		m, file, lock, err = receiveKept(c)
	}
	_ = c.Close() // all was said
	if err != nil || m.Worker == nil {
		return nil, nil, 0
	}
	return &run{r: u.r, s: u.s, image: u.image, box: u.box, id: m.Worker.ID, key: u.key, pid: m.Worker.Pid, begun: true, rootfs: m.Worker.Rootfs,
		owner: &presence{file: lock, path: filepath.Join(clientsDir(u.r.runtimeDir), clientOf(m.Worker.ID))}}, file, m.Worker.Asked
}

// isWell says of a worker that was kept whether it just waits.
func (u *run) isWell() bool {
	locked, err := tryLock(u.owner.file)
	if err != nil || !locked || !u.owner.there() || !quiet(u.dir(), keptLog) {
		return false
	}
	// The server may not have heard of its end yet.
	fd, err := u.open(int(u.pid))
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return processState(int(u.pid)) != 'Z'
}

// dir is where the standard files are.
func (u *run) dir() string { return filepath.Join(u.r.runtimeDir, "io", clientOf(u.id), u.id) }

// reopen opens the files of a worker that was kept.
func (u *run) reopen() (err error) {
	f := &stdio{dir: u.dir(), stdin: filepath.Join(u.dir(), stdinFile)}
	defer func() {
		if err != nil {
			f.close()
		}
	}()
	if f.stdout, err = reopenOutput(filepath.Join(f.dir, stdoutFile)); err != nil {
		return err
	}
	if f.stderr, err = reopenOutput(filepath.Join(f.dir, stderrFile)); err != nil {
		return err
	}
	if u.talk.said, err = openSaid(f.stdout.path); err != nil {
		return err
	}
	if u.talk.ledger, err = newLedger(f.dir); err != nil {
		u.talk.said.close()
		return err
	}
	u.kills, u.io = oomKills(u.id), f
	return nil
}

func reopenOutput(path string) (*output, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return newFollowed(file, nil), nil
}

// discard removes a worker that was kept and is of no use, while others go on.
func (u *run) discard() {
	u.r.runsOpen.Add(1) // this is called within a run, so that it is not zero
	go func() {
		defer u.r.runsOpen.Done()
		u.talk.closeAll()
		if u.remove(context.Background(), nil) == nil {
			_ = os.RemoveAll(u.dir()) // else it is swept
		}
		u.disown()
	}()
}

// resume is run for a program that an earlier command has begun.
func (u *run) resume(ctx context.Context) (res runner.Result, err error) {
	defer u.closeFiles(&err)
	defer u.cleanUp(ctx, &err)
	waiting, stopWaiting := context.WithCancel(u.r.ctx(context.WithoutCancel(ctx)))
	defer stopWaiting()
	exit := u.wait(waiting)
	close(u.talk.began)
	return u.attend(ctx, exit)
}
