package fence

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"deployster/internal/runtime/remote"
	"deployster/kube/internal/api"
)

// annotation of the Lease has the record.
const annotation = "deployster.io/fence"

// keptNames is how many Pods of actions the record names at most: the latest.
const keptNames = 4096

// record is what the Lease has.
type record struct {
	remote.Fence
	// Unproven: nobody has acted since the Lease was created. The first who acts must query its store whether it still
	// holds the state: the Lease may have been removed after a later client was admitted.
	Unproven bool `json:"unproven,omitempty"`
	// Open are Pods that were about to be created for actions, and whose end is not recorded.
	Open   []string `json:"open,omitempty"`
	Holder string   `json:"holder"` // identifies the process that was admitted
	Try    string   `json:"try"`    // identifies the write, for a writer whose answer was lost
}

// Leases are the Leases of a namespace. *api.Client implements it.
type Leases interface {
	GetLease(ctx context.Context, name string) (*coordination.Lease, error)
	CreateLease(ctx context.Context, l *coordination.Lease) (*coordination.Lease, error)
	UpdateLease(ctx context.Context, l *coordination.Lease) (*coordination.Lease, error)
}

// Fence is the place of one client in the record of a state.
type Fence struct {
	api      Leases
	name     string
	patience time.Duration // how long a write is tried again

	writing sync.Mutex // held while the Lease is written

	mu      sync.Mutex
	lease   *coordination.Lease // as it was read or written last
	uid     types.UID           // of the Lease when the client was admitted
	mine    record
	changed int // counts the changes of mine
	written int // the change up to which the Lease has them
}

// Enter makes the client the one that acts for its state, unless the Lease names a later one. patience is how long each
// write is tried again.
func Enter(ctx context.Context, c Leases, name string, h remote.Hello, patience time.Duration) (*Fence, error) {
	f := &Fence{api: c, name: name, patience: patience}
	err := f.retry(ctx, func() (bool, error) {
		lease, err := c.GetLease(ctx, name)
		if err != nil {
			return false, err
		}
		before := record{Unproven: true}
		if lease != nil {
			if before, err = read(lease); err != nil {
				return true, err
			}
		}
		if f.mine.Try != "" && before.Try == f.mine.Try { // the answer to the write was lost
			f.lease, f.uid = lease, lease.UID
			return true, nil
		}
		if err := before.Refuses(h, "this namespace"); err != nil {
			return true, fmt.Errorf("%w. If it is the newer state that was lost, remove the Lease %s", err, name)
		}
		f.mine = record{Fence: before.Admit(h), Unproven: before.Unproven, Open: before.stillOpen(h), Holder: rand.Text(), Try: rand.Text()}
		lease, err = f.put(ctx, lease, f.mine)
		if err == nil {
			f.lease, f.uid = lease, lease.UID
		}
		return err == nil, err
	})
	return f, err
}

// stillOpen returns the Pods that are open for a client that is admitted after the record: without those whose ends its state has, since a
// client that was killed could not take them out. What the same run has begun is not in the state that it was greeted with.
func (r record) stillOpen(h remote.Hello) []string {
	if r.Run == h.Run {
		return r.Open
	}
	return slices.DeleteFunc(slices.Clone(r.Open), func(pod string) bool { return !h.MayHaveOpen(pod) })
}

// retry calls do until it is done, with or without an error, or an error shows that another try does not help.
func (f *Fence) retry(ctx context.Context, do func() (bool, error)) error {
	limit := time.Now().Add(f.patience)
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		done, err := do()
		conflict := apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err)
		switch {
		case done, ctx.Err() != nil, err != nil && !conflict && !api.Transient(err), time.Now().Add(pause).After(limit):
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// put writes a record into a Lease that was read, or creates it if it is nil.
func (f *Fence) put(ctx context.Context, before *coordination.Lease, r record) (*coordination.Lease, error) {
	content, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if before == nil {
		return f.api.CreateLease(ctx, &coordination.Lease{TypeMeta: meta.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"},
			ObjectMeta: meta.ObjectMeta{Name: f.name, Labels: map[string]string{"app.kubernetes.io/managed-by": "deployster"},
				Annotations: map[string]string{annotation: string(content)}}})
	}
	next := before.DeepCopy()
	if next.Annotations == nil {
		next.Annotations = map[string]string{}
	}
	next.Annotations[annotation] = string(content)
	return f.api.UpdateLease(ctx, next)
}

// OpenIn returns the Pods that a Lease names as open; there are none if it does not exist.
func OpenIn(ctx context.Context, c Leases, name string) ([]string, error) {
	lease, err := c.GetLease(ctx, name)
	if err != nil || lease == nil {
		return nil, err
	}
	r, err := read(lease)
	return r.Open, err
}

func read(l *coordination.Lease) (record, error) {
	var r record
	if err := json.Unmarshal([]byte(l.Annotations[annotation]), &r); err != nil {
		return r, fmt.Errorf("the Lease %s is not a record of deployster: %w", l.Name, err)
	}
	return r, nil
}

// MissingError reports that the Lease is not the one that the client entered with.
type MissingError struct{ Name string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("the Lease %s, which records who acts for this state, was removed: nothing more is started. Run the command again",
		e.Name)
}

// holds returns an error if a Lease that was read now is not the one that admitted this client.
func (f *Fence) holds(l *coordination.Lease) error {
	if l == nil || l.UID != f.uid {
		return &MissingError{f.name}
	}
	now, err := read(l)
	if err != nil {
		return err
	}
	f.mu.Lock()
	mine := f.mine.Holder
	f.mu.Unlock()
	if now.Holder != mine {
		return now.Taken()
	}
	return nil
}

// Check reads the Lease, and returns an error if the client may not start anything.
func (f *Fence) Check(ctx context.Context) error {
	lease, err := f.api.GetLease(ctx, f.name)
	if err != nil {
		return err
	}
	return f.holds(lease)
}

// Unproven reports whether the client must query its store whether it still holds the state, before it acts.
func (f *Fence) Unproven() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mine.Unproven
}

// Act notes that the client begins its first action. It returns an error if it may not start anything.
func (f *Fence) Act(ctx context.Context) error {
	return f.change(ctx, func(r *record) bool {
		changed := !r.Acted || r.Unproven
		r.Acted, r.Unproven = true, false
		return changed
	})
}

// Open notes the Pod of an action before it is created.
func (f *Fence) Open(ctx context.Context, pod string) error {
	return f.change(ctx, func(r *record) bool {
		if slices.Contains(r.Open, pod) {
			return false
		}
		r.Open = append(slices.Clone(r.Open), pod)
		r.Open = r.Open[max(len(r.Open)-keptNames, 0):]
		return true
	})
}

// IsOpen reports whether the Pod of an action was about to be created, and its end is not recorded.
func (f *Fence) IsOpen(pod string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Contains(f.mine.Open, pod)
}

// Opened returns the Pods that were about to be created for actions, and whose end is not recorded.
func (f *Fence) Opened() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.mine.Open)
}

// Settled notes that the end of an action is recorded, or that nothing was begun in its Pod. The next write has it.
func (f *Fence) Settled(pod string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.Contains(f.mine.Open, pod) {
		f.mine.Open = slices.DeleteFunc(slices.Clone(f.mine.Open), func(name string) bool { return name == pod })
		f.changed++
	}
}

// Close writes what Settled has noted.
func (f *Fence) Close(ctx context.Context) error {
	return f.change(ctx, func(*record) bool { return false })
}

// change changes the record, and returns when the Lease has the change. Changes that are made while the Lease is
// written are written together.
func (f *Fence) change(ctx context.Context, do func(*record) bool) error {
	f.mu.Lock()
	if do(&f.mine) {
		f.changed++
	}
	number := f.changed
	f.mu.Unlock()
	f.writing.Lock()
	defer f.writing.Unlock()
	f.mu.Lock()
	written := f.written
	f.mu.Unlock()
	if written >= number {
		return nil
	}
	return f.retry(ctx, func() (bool, error) { return f.write(ctx) })
}

// write writes the record once. After an error it reads the Lease: the answer may be lost.
func (f *Fence) write(ctx context.Context) (bool, error) {
	f.mu.Lock()
	r, change, lease := f.mine, f.changed, f.lease
	f.mu.Unlock()
	r.Try = rand.Text()
	lease, err := f.put(ctx, lease, r)
	if err != nil {
		now, failed := f.api.GetLease(ctx, f.name)
		if failed != nil {
			return false, failed
		}
		if failed := f.holds(now); failed != nil {
			return true, failed
		}
		f.mu.Lock()
		f.lease = now
		f.mu.Unlock()
		if there, failed := read(now); failed != nil || there.Try != r.Try {
			return false, err
		}
		lease = now
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lease, f.written = lease, change
	return true, nil
}
