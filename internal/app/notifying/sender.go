package notifying

import (
	"context"

	"deployster/config"
	"deployster/internal/app/command"
	"deployster/internal/app/machine"
	"deployster/internal/runtime/notifier"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
	"deployster/state"
)

// images sends by images on a machine.
type images struct{ client *notifier.Client }

// NewSender returns what sends by the images of a manifest on a machine, as its lock file pins them.
func NewSender(c command.Command, m *machine.Machine, of *config.Manifest) (Sender, error) {
	resolver, err := m.Resolver(c.Work.Dir, of)
	if err != nil {
		return nil, err
	}
	w := c.Work
	return images{notifier.New(notifier.Options{Types: m.Client(c, m.Places, state.Snapshot{}, nil, resolver), Inspector: m.Runtime,
		Secret: w.Secrets.Learn, Input: protocol.InitInput{Version: w.Version, Verbose: w.Verbose, Workspace: w.Dir,
			Protocol: protocol.Versions{Min: protocol.MinVersion, Max: protocol.MaxVersion}}})}, nil
}

func target(n config.Notify) notifier.Target {
	return notifier.Target{Name: n.Name, Config: n.Config.Value, Params: n.Params.Value, Sensitive: n.Config.Sensitive,
		Hidden: n.Params.Sensitive, Timeout: n.Timeouts.Action,
		Target: typeclient.Target{Address: "notify." + n.Name, Reference: n.Image, Settings: n.Settings, Pull: n.Pull, Verify: n.Verify}}
}

// Prepare implements Sender.
func (i images) Prepare(ctx context.Context, n config.Notify) error {
	_, err := i.client.Describe(ctx, target(n))
	return err
}

// Send implements Sender.
func (i images) Send(ctx context.Context, n config.Notify, m Message) error {
	return i.client.Send(ctx, target(n), notifier.Message(m))
}
