package typeclient

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/secretgrant"
	"deployster/protocol"
)

// StepSave is the step in which a type saves what the undo of its guarded actions needs.
const StepSave = "save"

// errNoGuardian reports that guarded actions cannot be undone here.
var errNoGuardian = errors.New("this program guards no actions")

// Protect has a resource save what the undo of its actions needs, and adds it to an armed group.
func (c *Client) Protect(ctx context.Context, t Target, ty protocol.Type, in protocol.ActionInput, key string, order int) error {
	k := call{target: t, step: StepSave, kind: runner.Query, command: *ty.Guard.Save, mounts: t.Mounts, settings: t.Settings,
		timeout: cmp.Or(t.StateTimeout, DefaultStateTimeout)}
	if named := secretgrant.Names(k.settings.Env, k.mounts, secretgrant.ConfigsOf(in.StateInput)...); len(named) > 0 {
		return fail(k, errors.ErrUnsupported, "The action cannot be guarded", "It gets secret.%s.value, and the host keeps how a "+
			"guarded action is undone. Use the secret in a resource without guarded actions.", named[0])
	}
	if c.o.Guardian == nil || t.Settings.Host == nil {
		return fail(k, errNoGuardian, "The action cannot be guarded", "%s", errNoGuardian)
	}
	in.InitInput = c.initInput(t)
	guard := protocol.GuardInput{Directory: t.Settings.Host.GuardDir(key, t.Address)}
	save, err := encode(struct {
		actionV2
		Guard protocol.GuardInput `json:"guard"`
	}{newActionV2(ty, in), guard})
	if err != nil {
		return fail(k, err, "The action cannot be guarded", "%s", diag.Visible(err.Error()))
	}
	undo, err := encode(struct {
		protocol.InitInput
		Guard protocol.GuardInput `json:"guard"`
	}{in.InitInput, guard})
	if err != nil {
		return fail(k, err, "The action cannot be guarded", "%s", diag.Visible(err.Error()))
	}
	mounts, err := c.mountsOf(k)
	if err != nil {
		return err
	}
	if !t.Settings.WholeMachine { // else it sees the directory anyway
		mounts = append(mounts, runner.Mount{Source: guard.Directory, Target: guard.Directory, Writable: true})
	}
	spec := func(step string, command protocol.Command, stdin []byte) runner.Spec {
		return runner.Spec{Name: t.Address + "/" + step, Kind: runner.Query, Digest: ty.Digest, Reference: t.Reference,
			Entrypoint: command.Entrypoint, Args: command.Args, Stdin: stdin, Mounts: slices.Clone(mounts), Settings: t.Settings,
			Timeout: k.timeout, LogStdout: true}
	}
	p := runner.Protection{Key: key, Address: t.Address, Order: order, Save: spec(StepSave, *ty.Guard.Save, save),
		Undo: spec("undo", ty.Guard.Undo, undo)}
	// The host keeps how to undo: without values that may be secret, and without files that it may remove.
	p.Undo.Settings.Env = nil
	p.Undo.Mounts = slices.DeleteFunc(p.Undo.Mounts, func(m runner.Mount) bool { return m.Files != nil })
	if err := c.o.Guardian.Save(ctx, *t.Settings.Host, p); err != nil {
		return fail(k, err, "The action cannot be guarded", "%s. Nothing was begun.", diag.Visible(string(c.o.hide([]byte(err.Error())))))
	}
	return nil
}
