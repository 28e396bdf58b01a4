package vault

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner/answers"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
)

// keeper prints a value that its test sets.
type keeper struct {
	mu      sync.Mutex
	value   answers.Secret
	err     error
	asked   int
	refuses error
}

func (k *keeper) Describe(context.Context, typeclient.Target) (protocol.Type, error) {
	return protocol.Type{Digest: "sha256:x", Secret: &protocol.Command{Args: []string{"read"}}}, nil
}
func (k *keeper) CheckConfig(protocol.Type, []byte) error { return k.refuses }
func (k *keeper) RenewSecret(context.Context, typeclient.Target, protocol.Type, []byte, []byte) (answers.Secret, error) {
	return answers.Secret{}, errors.New("there is no lease")
}
func (k *keeper) CloseSecret(context.Context, typeclient.Target, protocol.Type, []byte, []byte) error {
	return errors.New("there is no lease")
}
func (k *keeper) ReadSecret(ctx context.Context, _ typeclient.Target, _ protocol.Type, _ []byte) (answers.Secret, error) {
	if ctx.Value(stays{}) != nil {
		<-ctx.Done()
		return answers.Secret{}, ctx.Err()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked++
	return k.value, k.err
}

// stays is the key of a context whose reading ends with it.
type stays struct{}

// A reading that is cancelled is an error for its own caller: others who wait for the value read it.
func TestVault_OthersReadAfterACancelledReading(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		v := vault(&keeper{value: answers.Secret{Value: "one"}}, &now)
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), stays{}, true))
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, _, err := v.Of(ctx, "a", "db", true); !errors.Is(err, context.Canceled) {
				t.Errorf("its caller: %v", err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if got, _, err := v.Of(t.Context(), "b", "db", true); err != nil || got.Value != "one" {
				t.Errorf("another: %q, %v", got.Value, err)
			}
		})
		synctest.Wait()
		cancel()
		wg.Wait()
	})
}

func vault(k *keeper, now *time.Time) *Vault {
	v := New([]config.Secret{{Name: "db", Compare: true}}, func() []config.Secret { return []config.Secret{{Name: "around"}} }, NewLeases(nil))
	v.Use(k)
	v.now = func() time.Time { return *now }
	return v
}

// A resource has one value from the query of its step to its verification, also where the value expires meanwhile; the
// next step gets a new one.
func TestVault_HoldsOneValueForAStep(t *testing.T) {
	t.Parallel()
	now := time.Now()
	k := &keeper{value: answers.Secret{Value: "one", Expires: now.Add(time.Minute)}}
	v := vault(k, &now)
	get := func(addr string, begins bool) string {
		t.Helper()
		got, declared, err := v.Of(t.Context(), addr, "db", begins)
		if err != nil || !declared {
			t.Fatal(declared, err)
		}
		return got.Value
	}
	if get("a", true) != "one" || get("b", true) != "one" || k.asked != 1 {
		t.Errorf("asked %d times", k.asked)
	}
	k.value = answers.Secret{Value: "two", Expires: now.Add(time.Hour)}
	now = now.Add(2 * time.Minute)
	if got := get("a", false); got != "one" {
		t.Errorf("within its step: %s", got)
	}
	if got := get("c", true); got != "two" {
		t.Errorf("another resource: %s", got)
	}
	if got := get("a", false); got != "one" {
		t.Errorf("within its step, after another one has asked: %s", got)
	}
	if got := get("a", true); got != "two" || k.asked != 2 {
		t.Errorf("the next step: %s, asked %d times", got, k.asked)
	}
}

// What is asked at the same time is asked once, and a failure is not repeated for each resource.
func TestVault_ReadsOnce(t *testing.T) {
	t.Parallel()
	now := time.Now()
	k := &keeper{err: errors.New("sealed")}
	v := vault(k, &now)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if _, _, err := v.Of(t.Context(), fmt.Sprint(i), "db", true); !errors.Is(err, k.err) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if k.asked != 1 {
		t.Errorf("asked %d times", k.asked)
	}
}

func TestVault_KnowsWhatIsDeclared(t *testing.T) {
	t.Parallel()
	now := time.Now()
	k := &keeper{value: answers.Secret{Value: "one"}}
	v := vault(k, &now)
	for name, want := range map[string]bool{"db": true, "around": true, "gone": false} {
		if _, declared, err := v.Of(t.Context(), "a", name, true); declared != want || err != nil {
			t.Errorf("%s: %t, %v", name, declared, err)
		}
	}
	k.refuses = errors.New("config.path is missing")
	if _, _, err := vault(k, &now).Of(t.Context(), "a", "db", true); err == nil {
		t.Error("a config that its image refuses is sent")
	}
}

// lender opens a lease for each value that is read.
type lender struct {
	keeper
	log    []string
	fails  bool
	renews func() time.Time
}

func (l *lender) note(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.log = append(l.log, fmt.Sprintf(format, args...))
}

func (l *lender) ReadSecret(context.Context, typeclient.Target, protocol.Type, []byte) (answers.Secret, error) {
	l.note("open")
	l.mu.Lock()
	defer l.mu.Unlock()
	return answers.Secret{Value: fmt.Sprint("value ", len(l.log)), Lease: []byte(`"one"`), Renew: l.renews()}, nil
}

func (l *lender) RenewSecret(_ context.Context, _ typeclient.Target, _ protocol.Type, _, lease []byte) (answers.Secret, error) {
	l.note("renew %s", lease)
	if l.fails {
		return answers.Secret{}, errors.New("sealed")
	}
	return answers.Secret{Lease: []byte(`"two"`)}, nil
}

func (l *lender) CloseSecret(_ context.Context, _ typeclient.Target, _ protocol.Type, _, lease []byte) error {
	l.note("close %s", lease)
	return nil
}

// seen returns what was done, once it was done n times.
func (l *lender) seen(n int) string {
	for range 2000 {
		l.mu.Lock()
		if len(l.log) >= n {
			defer l.mu.Unlock()
			return strings.Join(l.log, ", ")
		}
		l.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
	return "not enough"
}

// What an image opens is used by all vaults of a command, renewed in time, and given back once at the end, as it is then.
func TestLeases_AreRenewedAndGivenBack(t *testing.T) {
	t.Parallel()
	k := &lender{renews: func() time.Time { return time.Now().Add(time.Millisecond) }}
	leases := NewLeases(func(d *diag.Diagnostic) { t.Error(d) })
	read := func() string {
		t.Helper()
		v := New([]config.Secret{{Name: "db"}}, func() []config.Secret { return nil }, leases)
		v.Use(k)
		got, _, err := v.Of(t.Context(), "a", "db", true)
		if err != nil {
			t.Fatal(err)
		}
		return got.Value
	}
	if read() != "value 1" || k.seen(2) != `open, renew "one"` || read() != "value 1" {
		t.Errorf("%q", k.log)
	}
	leases.Close()
	leases.Close()
	if got := k.seen(3); got != `open, renew "one", close "two"` {
		t.Error(got)
	}
}

// What could not be renewed is opened again when it is needed, and both are given back.
func TestLeases_AreOpenedAgain(t *testing.T) {
	t.Parallel()
	k := &lender{fails: true, renews: func() time.Time { return time.Now().Add(time.Millisecond) }}
	warned := make(chan string, 9)
	leases := NewLeases(func(d *diag.Diagnostic) { warned <- d.Summary })
	k.renews = sync.OnceValue(k.renews)
	v := New([]config.Secret{{Name: "db"}}, func() []config.Secret { return nil }, leases)
	v.Use(k)
	for n := range 2 { // steps of one command
		s, _, err := v.Of(t.Context(), "a", "db", true)
		if err != nil || s.Value != []string{"value 1", "value 3"}[n] || <-warned != "A secret could not be renewed" {
			t.Fatalf("%+v, %v: %q", s, err, k.log)
		}
	}
	leases.Close()
	if got := k.seen(6); got != `open, renew "one", open, renew "one", close "one", close "one"` {
		t.Error(got)
	}
}
