package containerd

import (
	"context"
	"errors"

	"deployster/containerd/agentconn"
	"deployster/containerd/runfiles"
	"deployster/containerd/sandbox"
	"deployster/containerd/supervise"
	"deployster/internal/runtime/runner"
)

// actionProgram is the program of an action. Its agent carries it out to its end, and records that, whatever
// becomes of this client.
type actionProgram struct {
	agentProgram
	files *runfiles.ActionFiles
}

// start implements program.
func (f *actionProgram) start(context.Context) error { return f.request(f.files.Given()...) }

// Delete implements program: the agent has ended everything that the action left running, and has written
// its whole output.
func (f *actionProgram) Delete(context.Context, int, bool) error {
	f.w.killLeftovers()
	return nil
}

// act runs an action in the container. From its line in the ledger on it can be adopted; the line is closed when
// its end is recorded. done is false if its program was certainly not begun.
func (w *sharedContainer) act(ctx context.Context, s runner.Spec) (res runner.Result, done bool, err error) {
	argv, err := s.Command(w.container.image.Config.Entrypoint, w.container.image.Config.Cmd)
	if err != nil {
		return res, false, err
	}
	w.asked++
	request := w.asked
	uid, gid := w.container.box.IDs.Owner(w.container.box.Spec.Process.User)
	files, err := runfiles.NewAction(w.container.dir(), request, s, int(uid), int(gid))
	if err != nil {
		return res, false, err
	}
	kills := sandbox.OOMKills(w.container.id)
	watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWatching()
	w.tainted = w.tainted || w.container.r.isPrivate(argv...) || w.container.r.isPrivate(string(s.Stdin)) // even if no program begins
	if err := w.ledger.Ask(w.container.r.outcomes(), request, s); err != nil {
		done, err = w.withdraw(request, files, err)
		return res, done, err
	}
	p := &actionProgram{agentProgram{w: w, argv: argv}, files}
	if err := p.start(ctx); err != nil {
		if errors.Is(err, errRefused) || errors.Is(err, agentconn.ErrUnsent) {
			done, err = w.withdraw(request, files, err)
			return res, done, err
		}
		files.Close()
		return res, true, supervise.UnknownEnd(w.container.id, err)
	}
	u := &supervise.Supervisor{Program: p, Spec: s, Files: files.Files, Container: w.container.id, Kills: kills}
	res, err = u.Finish(ctx, p.wait(ctx), sandbox.WatchDisk(watching, w.container.rootfs, sandbox.DiskLimit(s.Settings)))
	w.served++
	w.tainted = w.tainted || w.container.r.isPrivate(string(res.Stdout), string(res.Stderr))
	if supervise.IsUnknown(err) {
		files.Close()
		return res, true, err
	}
	if s.Ended != nil {
		if failed := s.Ended(res, err); failed != nil {
			files.Close()
			return res, true, failed
		}
	}
	return res, true, errors.Join(err, w.settle(request, files))
}

// withdraw closes the line of an action that was not begun. If that fails it must not begin elsewhere either: done is
// true, and the error is why.
func (w *sharedContainer) withdraw(request int64, files *runfiles.ActionFiles, err error) (done bool, why error) {
	if failed := w.settle(request, files); failed != nil {
		return true, failed
	}
	return false, err
}

// settle closes the line of an action whose end is recorded, or that was not requested, and removes its files.
func (w *sharedContainer) settle(request int64, files *runfiles.ActionFiles) error {
	if err := w.ledger.Settle(request); err != nil {
		files.Close()
		return err
	}
	return files.Remove()
}
