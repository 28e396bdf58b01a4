package containerd

import (
	"context"
	"strings"
	"testing"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/core/snapshots"

	"deployster/containerd/supervise"
	"deployster/internal/runtime/runner"
)

// What a dead client has left that still runs is no orphan, also when something
// else of his is removed meanwhile, by whoever looks for the leavings of all.
func TestSweep_WhatStillRunsIsNotAnOrphan(t *testing.T) {
	modes(t, func(t *testing.T, o Options, _, _ func()) {
		r, d := open(t, o), openDying(t, o)
		action := d.run(runner.Action, "echo; sleep 4; exit 7") // the first that a sweep comes to
		query := d.run(runner.Query, "echo; sleep 600")
		d.die()
		if err := r.sweeper().Sweep(context.Background(), true); err != nil {
			t.Error(err)
		}
		if e := <-query; e.Err == nil && e.Code == 0 {
			t.Error("the query of the dead was not ended")
		}
		d.nothingIsLost(r, action)
		nothingLeft(t, r)
	})
}

// Who begins something and dies while others look for what the dead have left
// is not taken for one of them: they do not know what he has begun.
func TestSweep_WhoDiesLateIsForTheNext(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r, d := open(t, o), openDying(t, o)
	query := d.run(runner.Query, "echo; sleep 600")
	var action chan supervise.Exit
	s := r.sweeper()
	late, err := client.New("", client.WithServices(
		client.WithContainerStore(&lateStore{s.Client.ContainerService(), func() {
			action = d.run(runner.Action, "echo; sleep 4; exit 7")
			d.die()
		}}),
		client.WithLeasesService(s.Client.LeasesService()),
		client.WithSnapshotters(map[string]snapshots.Snapshotter{r.conn.Snapshotter: s.Client.SnapshotService(r.conn.Snapshotter)}),
		client.WithTaskClient(s.Client.TaskService())))
	if err != nil {
		t.Fatal(err)
	}
	s.Client = late
	if err := s.Sweep(context.Background(), true); err != nil {
		t.Error(err)
	}
	d.nothingIsLost(r, action)
	<-query // the next sweep has ended it
	nothingLeft(t, r)
}

// lateStore is a store after whose list something happens.
type lateStore struct {
	containers.Store
	happens func()
}

func (l *lateStore) List(ctx context.Context, filters ...string) ([]containers.Container, error) {
	list, err := l.Store.List(ctx, filters...)
	l.happens()
	return list, err
}

// dying is a client that others take for dead while the test still hears of it.
type dying struct {
	*Runtime
	t    *testing.T
	dgst string
}

func openDying(t *testing.T, o Options) dying {
	r, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return dying{r, t, packProbe(t, r)}
}

// run returns how a script ends that has printed a line.
func (d dying) run(kind runner.Kind, script string) chan supervise.Exit {
	begun := make(chan struct{}, 2)
	ended := make(chan supervise.Exit, 1)
	go func() {
		res, err := d.Run(context.Background(), runner.Spec{Name: string(kind), Kind: kind, Digest: d.dgst, Entrypoint: "/bin/sh", Args: []string{"-c", script},
			Stdout: writerFunc(func(p []byte) (int, error) { begun <- struct{}{}; return len(p), nil })})
		ended <- supervise.Exit{Code: res.ExitCode, Err: err}
	}()
	<-begun
	return ended
}

// die gives the lock up by which others know that it lives.
func (d dying) die() { _ = d.conn.Lock.File.Close() }

// nothingIsLost checks that the action, which ends with code 7, ends so, and
// that all is swept then.
func (d dying) nothingIsLost(r *Runtime, action chan supervise.Exit) {
	d.t.Helper()
	// A sweep takes the client for dead, and may remove the task before it does.
	if e := <-action; e.Code != 7 || e.Err != nil && !strings.Contains(e.Err.Error(), "Removing the task of action failed") {
		d.t.Errorf("the action was ended: code %d, %v", e.Code, e.Err)
	}
	_ = d.Close() // it is dead
	eventually(d.t, "what is left is removed", func() bool {
		return r.sweeper().Sweep(context.Background(), true) == nil && len(containerKinds(d.t, r)) == 0
	})
}
