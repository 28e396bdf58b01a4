package artifacts

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"time"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/artifact/tree"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan/plugs"
	"deployster/protocol"
	"deployster/state/actions"
)

// put runs the put of a publish, once.
func (f *Client) put(ctx context.Context, t typeclient.Target, in protocol.ActionInput,
	told func(runner.Result, error) error) (runner.Result, error) {
	r := f.publishes[t.Address]
	if r == nil {
		return runner.Result{}, diag.Errorf("Unknown publish", "There is no %s in the manifest.", t.Address)
	}
	info, err := f.o.Client.Info(ctx, target(t))
	if err != nil {
		return runner.Result{}, err
	}
	f.mu.Lock()
	journal := f.journal
	f.mu.Unlock()
	record := actions.Put{Config: in.Config, Sensitive: f.sensitive(r), Info: info}
	if err := journal.Put(t.Address, record); err != nil {
		return runner.Result{}, err
	}
	var result runner.Result
	ended := false
	answer, err := f.o.Client.Put(ctx, target(t), info, artifact.PutInput{ID: in.IdempotencyKey, Source: member(in.Config, "source"),
		Params: member(in.Config, "params"), Fill: func(dir string) error { return f.fill(ctx, r, dir) },
		Ended: func(p artifact.Put, res runner.Result, err error) error {
			result, ended = res, true
			if len(p.Created)+len(p.Deleted) > 0 {
				record.Answer = &p
				if err := journal.Put(t.Address, record); err != nil {
					return err
				}
			}
			return told(res, err)
		}})
	if err != nil && !ended && !diag.Is[*runner.UnknownError](err) {
		record.NotBegun = true
		if jerr := journal.Put(t.Address, record); jerr != nil {
			return result, jerr
		}
	}
	if err != nil {
		return result, err
	}
	made, err := f.finish(ctx, t, info, in.Config, answer, in.LastState)
	if err != nil {
		return result, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.made[t.Address] = made
	return result, nil
}

// sensitive lists the JSON pointers to the values in the config of a publish that are never shown.
func (f *Client) sensitive(r *config.Resource) (pointers []string) {
	for _, pointer := range f.declared[r.Publish.Artifact].Source.Sensitive {
		pointers = append(pointers, "/source"+pointer)
	}
	return append(pointers, "/params", "/triggers") // only the plan knows which parts of them are sensitive
}

// fill puts copies of the inputs into the directory of a put.
func (f *Client) fill(ctx context.Context, r *config.Resource, dir string) error {
	for _, in := range r.Publish.Inputs {
		err := f.allowed(r, in)
		from := ""
		if err == nil {
			from, err = f.input(ctx, in)
		}
		if err == nil {
			err = tree.CopyReal(ctx, from, filepath.Join(dir, in.Name))
		}
		if err != nil {
			return at(r.Address, fmt.Errorf("the input %s cannot be copied: %w", in.Name, err))
		}
	}
	return nil
}

// allowed returns an error if the lists of a plug do not allow a publish to use it.
func (f *Client) allowed(r *config.Resource, in config.PublishInput) error {
	if plug := f.plugs[in.Plug]; in.Plug != "" && !plugs.Allowed(plug, r) {
		d := diag.Errorf("Plug not allowed", "Its input %s is the plug %q, and neither the resource_names nor the resource_types of that "+
			"match this publish. Add a pattern to the plug if it may have it.", in.Name, in.Plug)
		d.Address = r.Address
		return d
	}
	return nil
}

// input returns the path of the files of an input. It follows no link that an image could
// have made, and refuses paths that no container may get.
func (f *Client) input(ctx context.Context, in config.PublishInput) (string, error) {
	name, sub := f.artifactOf(in), ""
	if name == "" {
		from, err := plugs.ResolveLinks(f.plugs[in.Plug], f.plugs)
		if err == nil && f.o.Withheld != nil {
			if why := f.o.Withheld(from); why != "" {
				return "", fmt.Errorf("%s %s", from, why)
			}
		}
		return from, err
	}
	if in.Plug != "" {
		sub = f.plugs[in.Plug].Path
	}
	pin, ok := f.o.Pins()[name]
	if !ok {
		return "", fmt.Errorf("artifact.%s is not in the plan", name)
	}
	_, path, err := f.files(ctx, pin.Order(f.declared[name]), sub)
	return path, err
}

// settling are the pauses before another check while the image does not list yet what was
// published.
var settling = []time.Duration{0, 500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second}

// finish returns the state that a put leads to: its answer, in the order and with the
// metadata that its image lists.
func (f *Client) finish(ctx context.Context, t typeclient.Target, info artifact.Info, config json.RawMessage, p artifact.Put,
	last json.RawMessage) (json.RawMessage, error) {
	out := Published{Created: []placed{}, Deleted: []placed{}}
	var before Published
	if json.Unmarshal(last, &before) == nil {
		out.Space, out.Version, out.Metadata = before.Space, before.Version, before.Metadata
	}
	for _, v := range p.Created {
		out.Created = append(out.Created, placed{v.Space, v.Version})
	}
	for _, v := range p.Deleted {
		out.Deleted = append(out.Deleted, placed{v.Space, v.Version})
	}
	if len(p.Created) == 0 {
		return encode(out)
	}
	newest := p.Created[len(p.Created)-1]
	metadata := p.Metadata
	if listed, ok := f.listed(ctx, t, info, config, p.Created, before); ok {
		newest = listed
		if len(metadata) == 0 {
			metadata = listed.Metadata
		}
	}
	out.Space, out.Version, out.Metadata = newest.Space, maps.Clone(newest.Version), metadata.Map()
	return f.fetched(ctx, t, info, config, out)
}

// listed finds the newest of the created versions among those that the image lists from the
// version that was published before. With the first protocol, whose put makes one version,
// it lists from the created version: many images list no version that they were not requested.
// If the image lists nothing at all listed does not check again.
func (f *Client) listed(ctx context.Context, t typeclient.Target, info artifact.Info, config json.RawMessage, created []artifact.Versioned,
	before Published) (artifact.Versioned, bool) {
	in := artifact.CheckInput{Source: member(config, "source"), Space: created[0].Space, Fresh: true}
	switch {
	case info.Protocol == artifact.Concourse1:
		in.From = map[string]artifact.Version{"": created[0].Version}
	case len(before.Version) > 0 && before.Space == in.Space:
		in.From = map[string]artifact.Version{before.Space: before.Version}
	}
	var failed error
	for _, pause := range settling {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return artifact.Versioned{}, false
		}
		c, err := f.o.Client.Check(ctx, target(t), info, in)
		if failed = err; err != nil {
			continue
		}
		if c.Silent { // as a notifier is: waiting would not help, and the answer of the put is all there is
			return artifact.Versioned{}, false
		}
		for i := len(c.Newest) - 1; i >= 0; i-- {
			for _, v := range created {
				if c.Newest[i].Version.Is(v.Version) {
					return c.Newest[i], true
				}
			}
		}
	}
	d := diag.Warningf("What was published is not listed", "Its image does not list what it has put, even after some seconds. The "+
		"answer of the put is recorded.")
	if failed != nil {
		d.Detail = "Its image failed to list the versions after the put. The answer of the put is recorded. " + firstLine(failed)
	}
	d.Address = t.Address
	if f.o.Warn != nil {
		f.o.Warn(d)
	}
	return artifact.Versioned{}, false
}

// ReadPut reads the answer of a put that another command started; nil = nothing is known
// of it.
func ReadPut(c artifact.Client, addr string, put *actions.Put, r runner.Result) *artifact.Put {
	answer, err := c.ReadPut(artifact.Target{Address: addr, Reference: put.Info.Reference, Digest: put.Info.Digest}, put.Info, r)
	if err != nil && len(answer.Created)+len(answer.Deleted) == 0 {
		return nil
	}
	return &answer
}
