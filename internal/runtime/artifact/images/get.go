package images

import (
	"context"
	"encoding/json"
	"maps"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
)

// getV2 is the input of a get of artifacts-2.
type getV2 struct {
	Config  json.RawMessage  `json:"config"`
	Space   string           `json:"space"`
	Version artifact.Version `json:"version"`
}

// overlay merges two objects; members of params win.
func overlay(source, params json.RawMessage) (json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	for _, o := range []json.RawMessage{source, params} {
		members, err := jsondoc.OwnObject(o)
		if err != nil {
			return nil, err
		}
		maps.Copy(out, members)
	}
	return jsondoc.Encode(out)
}

// Get implements artifact.Client.
func (c *Client) Get(ctx context.Context, t artifact.Target, i artifact.Info, in artifact.GetInput) (artifact.Metadata, error) {
	var refused error
	a := typeclient.Ask{Step: artifact.StepGet, Digest: i.Digest, Command: i.Get, Cwd: getDir, Says: i.Protocol == artifact.Concourse1,
		Timeout: orElse(t.GetTimeout, artifact.DefaultGetTimeout),
		Volumes: []runner.Volume{{Target: getDir, Take: func(dir string) error {
			refused = in.Take(dir)
			return refused
		}}}}
	var err error
	if a.Stdin, err = getStdin(i, in.Recipe); err != nil {
		return nil, err
	}
	r, err := c.o.Types.Ask(ctx, target(t), a)
	if refused != nil {
		return nil, refused
	}
	if err != nil {
		return nil, classed(err)
	}
	if !a.Says {
		return nil, nil
	}
	_, metadata, err := readMade(r.Stdout) // it may name another version than the requested one, which stays
	if err != nil {
		return nil, classed(c.o.Types.Broken(target(t), a, r.Stdout, err))
	}
	return metadata, nil
}

func getStdin(i artifact.Info, r artifact.Recipe) ([]byte, error) {
	source, err := object(r.Source)
	if err != nil {
		return nil, err
	}
	params, err := object(r.Params)
	if err != nil {
		return nil, err
	}
	if i.Protocol == artifact.Concourse1 {
		return encode(getV1{source, unlessEmpty(params), r.Version})
	}
	config, err := overlay(source, params)
	if err != nil {
		return nil, err
	}
	return encode(getV2{config, r.Space, r.Version})
}
