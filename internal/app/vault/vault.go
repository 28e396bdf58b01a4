package vault

import (
	"context"
	"sync"
	"time"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner/answers"
	"deployster/internal/runtime/runner/secretgrant"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
)

// Client runs the images of secret blocks. *typeclient.Client is one.
type Client interface {
	Describe(ctx context.Context, t typeclient.Target) (protocol.Type, error)
	CheckConfig(ty protocol.Type, config []byte) error
	ReadSecret(ctx context.Context, t typeclient.Target, ty protocol.Type, config []byte) (answers.Secret, error)
	// RenewSecret has an image renew what it has opened; the answer has no value. CloseSecret has it given back.
	RenewSecret(ctx context.Context, t typeclient.Target, ty protocol.Type, config, lease []byte) (answers.Secret, error)
	CloseSecret(ctx context.Context, t typeclient.Target, ty protocol.Type, config, lease []byte) error
}

// Vault reads the values of secret blocks. It is safe for concurrent use.
type Vault struct {
	blocks map[string]config.Secret
	around func() []config.Secret
	client Client
	leases *Leases
	now    func() time.Time

	mu   sync.Mutex
	read map[string]*reading                     // by name
	held map[string]map[string]secretgrant.Value // by resource, by name
}

// reading is a value that is being read, or was.
type reading struct {
	done  chan struct{}
	value secretgrant.Value
	err   error
	ended bool // its command or its query was cancelled: the error is about that alone
}

// New returns a vault for the secret blocks of a manifest, which keeps what it has opened in leases. around returns those of
// the workspace, which count for what no manifest declares any more. Use must be called before a value is needed.
func New(blocks []config.Secret, around func() []config.Secret, leases *Leases) *Vault {
	v := &Vault{blocks: map[string]config.Secret{}, around: sync.OnceValue(around), now: time.Now, leases: leases,
		read: map[string]*reading{}, held: map[string]map[string]secretgrant.Value{}}
	for _, b := range blocks {
		v.blocks[b.Name] = b
	}
	return v
}

// Use sets the client that runs the images.
func (v *Vault) Use(c Client) { v.client = c }

// Of implements typeclient.Secrets.
func (v *Vault) Of(ctx context.Context, addr, name string, begins bool) (secretgrant.Value, bool, error) {
	block, declared := v.block(name)
	if !declared {
		return secretgrant.Value{}, false, nil
	}
	v.mu.Lock()
	held, known := v.held[addr][name]
	v.mu.Unlock()
	if known && !(begins && v.expired(held)) {
		return held, true, nil
	}
	value, err := v.value(ctx, block)
	if err != nil {
		return value, true, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.held[addr] == nil {
		v.held[addr] = map[string]secretgrant.Value{}
	}
	v.held[addr][name] = value
	return value, true, nil
}

// block returns the secret block with a name.
func (v *Vault) block(name string) (config.Secret, bool) {
	if b, declared := v.blocks[name]; declared {
		return b, true
	}
	for _, b := range v.around() {
		if b.Name == name {
			return b, true
		}
	}
	return config.Secret{}, false
}

func (v *Vault) expired(s secretgrant.Value) bool {
	return !s.Expires.IsZero() && !v.now().Before(s.Expires)
}

// value returns the value of a secret, which is read if it was not, or has expired. An error is returned to all, so
// that an image that fails does not run for each resource.
func (v *Vault) value(ctx context.Context, b config.Secret) (secretgrant.Value, error) {
	name := b.Name
	for {
		v.mu.Lock()
		r := v.read[name]
		if r == nil {
			r = &reading{done: make(chan struct{})}
			v.read[name] = r
			v.mu.Unlock()
			r.value, r.err = v.ask(ctx, b)
			if r.ended = ctx.Err() != nil; r.ended {
				v.forget(name, r)
			}
			close(r.done)
			return r.value, r.err
		}
		v.mu.Unlock()
		select {
		case <-r.done:
		case <-ctx.Done():
			return secretgrant.Value{}, context.Cause(ctx)
		}
		if !r.ended && (r.err != nil || !v.expired(r.value)) {
			return r.value, r.err
		}
		v.forget(name, r)
	}
}

// forget has a secret read again, unless it was already.
func (v *Vault) forget(name string, r *reading) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.read[name] == r {
		delete(v.read, name)
	}
}

// ask runs the image of a secret block.
func (v *Vault) ask(ctx context.Context, b config.Secret) (secretgrant.Value, error) {
	value := secretgrant.Value{Compared: b.Compare}
	t := typeclient.Target{Address: "secret." + b.Name, Reference: b.Image, Settings: b.Settings, Pull: b.Pull, Verify: b.Verify,
		StateTimeout: b.Timeouts.State, Sensitive: b.Config.Sensitive}
	ty, err := v.client.Describe(ctx, t)
	if err != nil {
		return value, err
	}
	if t.Digest = ty.Digest; ty.Secret != nil {
		if err := v.client.CheckConfig(ty, b.Config.Value); err != nil {
			at := b.Range
			return value, &diag.Diagnostic{Severity: diag.Error, Summary: "Invalid config", Address: t.Address, Range: &at,
				Detail: "The config of the secret does not match its image's config_schema: " + err.Error()}
		}
	}
	value.Secret, err = v.leases.read(ctx, v.client, t, ty, b.Config.Value)
	return value, err
}
