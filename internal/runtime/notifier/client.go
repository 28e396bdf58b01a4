package notifier

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/protocol"
)

// Limits of one try.
const (
	Timeout = 30 * time.Second // of the image, if its type has no timeout of its own
	Grace   = time.Second      // between SIGTERM and SIGKILL: nobody waits for a notifier
)

// Options are what a Client works with.
type Options struct {
	Types     *typeclient.Client // runs the images
	Inspector runner.Inspector   // reads their files
	Secret    func([]string)     // learns the secrets in configs
	Input     protocol.InitInput // the beginning of each stdin, without Name and Type
}

// Client sends notifications. It is safe for concurrent use.
type Client struct {
	o       Options
	schemas typeschema.Schemas
}

// New returns a Client.
func New(o Options) *Client {
	return &Client{o: o}
}

// Target is who sends a notification: an image, and what it is given.
type Target struct {
	typeclient.Target
	Name      string          // of the notify block
	Config    json.RawMessage // an object; the source of one of Concourse's images
	Params    json.RawMessage // an object, of one of Concourse's images only
	Sensitive []string        // JSON pointers to the secrets in Config
	Hidden    []string        // and to those in Params
	Timeout   time.Duration   // of one try; 0 = Timeout
}

// Message is one notification. Secrets are masked in it.
type Message struct {
	Event   json.RawMessage // one event of docs/json.md
	Summary string          // the same for people; several lines
}

// Kind is how an image sends.
type Kind struct {
	Concourse bool
	Type      protocol.Type // unless it is one of Concourse's
	Digest    string
}

// Describe finds out how an image sends, and checks the config that it is given. It fetches the image if needed.
func (c *Client) Describe(ctx context.Context, t Target) (k Kind, err error) {
	if k.Digest, err = c.o.Types.Digest(ctx, t.Target); err != nil {
		return k, err
	}
	t.Target.Digest = k.Digest
	has, err := c.o.Inspector.Has(ctx, k.Digest, artifact.ConcoursePrograms()...)
	switch {
	case err != nil:
		return k, c.failed(t, err, "Cannot read the files of the image", "Image %s: %s", diag.Visible(t.Reference),
			diag.Visible(err.Error()))
	case has[2]:
		k.Concourse = true
		c.learn(t, t.Sensitive)
		return k, nil
	case has[0] || has[1]:
		return k, c.failed(t, errors.ErrUnsupported, "The image sends no notifications",
			"Image %s is a resource type of Concourse without /opt/resource/out, which sends notifications. Choose an image that "+
				"has it.", diag.Visible(t.Reference))
	}
	if k.Type, err = c.o.Types.Describe(ctx, t.Target); err != nil {
		return k, err
	}
	switch {
	case k.Type.Notify == nil:
		return k, c.failed(t, errors.ErrUnsupported, "The image sends no notifications",
			"Image %s is a resource type: its answer to init has no "+
				"\"notify\". Use it in a resource block.", diag.Visible(t.Reference))
	case string(t.Params) != "{}" && len(t.Params) > 0:
		return k, c.failed(t, errors.ErrUnsupported, "Unexpected params",
			"params are for images of Concourse, and %s takes a config only. Put them "+
				"into config.", diag.Visible(t.Reference))
	}
	c.learn(t, append(c.schemas.WriteOnly(k.Type.ConfigSchema, t.Config), t.Sensitive...))
	for _, v := range c.o.Types.CheckConfig(k.Type, t.Config, nil) {
		return k, c.failed(t, errors.ErrUnsupported, "The config is not valid", "Image %s refuses it: %s", diag.Visible(t.Reference),
			v.Sentence())
	}
	return k, nil
}

// learn has the secrets hidden from now on in all that is shown and recorded.
func (c *Client) learn(t Target, pointers []string) {
	c.o.Secret(append(secret.Values(t.Config, pointers), secret.Values(t.Params, t.Hidden)...))
}

func (c *Client) failed(t Target, cause error, summary, detail string, args ...any) error {
	return typeclient.Failed(t.Target, typeclient.StepNotify, cause, summary, detail, args...)
}

// input is the stdin of an image that sends a notification.
type input struct {
	protocol.InitInput
	Config  json.RawMessage `json:"config"`
	Event   json.RawMessage `json:"event"`
	Summary string          `json:"summary"`
}

// Send sends a message. The error is nil only if the program ended with exit code zero.
func (c *Client) Send(ctx context.Context, t Target, m Message) error {
	k, err := c.Describe(ctx, t)
	if err != nil {
		return err
	}
	return c.SendAs(ctx, t, k, m)
}

// SendAs is Send for an image that is described already.
func (c *Client) SendAs(ctx context.Context, t Target, k Kind, m Message) (err error) {
	a := typeclient.Ask{Step: typeclient.StepNotify, Digest: k.Digest, Timeout: cmp.Or(t.Timeout, Timeout), Grace: Grace}
	t.Target.Digest = k.Digest
	if k.Concourse {
		if a, err = toConcourse(a, t, m); err != nil {
			return err
		}
	} else {
		in := input{InitInput: c.o.Input, Config: t.Config, Event: m.Event, Summary: m.Summary}
		in.Name, in.Type, a.Command = t.Name, t.Reference, *k.Type.Notify
		if a.Stdin, err = jsondoc.Encode(in); err != nil {
			return err
		}
		a.Stdin = append(a.Stdin, '\n')
	}
	_, err = c.o.Types.Ask(ctx, t.Target, a)
	return err
}
