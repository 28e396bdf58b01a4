package vault

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"deployster/config"
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
	v := New([]config.Secret{{Name: "db", Compare: true}}, func() []config.Secret { return []config.Secret{{Name: "around"}} })
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
