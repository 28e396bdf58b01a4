package images

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
)

// putV2 is the input of a put of artifacts-2.
type putV2 struct {
	Config       json.RawMessage `json:"config"`
	ResponsePath string          `json:"response_path"`
}

func putAsk(t artifact.Target, i artifact.Info) typeclient.Ask {
	a := typeclient.Ask{Step: artifact.StepPut, ID: "?", Digest: i.Digest, Cwd: putDir, Says: i.Protocol == artifact.Concourse1,
		Timeout: t.PutTimeout}
	if i.Put != nil {
		a.Command = *i.Put
	}
	return a
}

// Put implements artifact.Client.
func (c *Client) Put(ctx context.Context, t artifact.Target, i artifact.Info, in artifact.PutInput) (artifact.Put, error) {
	if i.Put == nil {
		return artifact.Put{}, typeclient.Failed(target(t), artifact.StepPut, errors.ErrUnsupported, "The image cannot publish",
			"Image %s has no put: it can be used by artifact blocks only.", diag.Visible(t.Reference))
	}
	a := putAsk(t, i)
	a.ID = in.ID
	if a.ID == "" {
		return artifact.Put{}, errors.New("a put has no ID")
	}
	var unfilled error
	a.Volumes = []runner.Volume{{Target: putDir, Fill: func(dir string) error {
		if in.Fill != nil {
			unfilled = in.Fill(dir)
		}
		return unfilled
	}}}
	if !a.Says {
		a.Answer = &runner.Answer{Target: responsePath, Max: artifact.MaxPutAnswer}
	}
	var err error
	if a.Stdin, err = putStdin(i, in); err != nil {
		return artifact.Put{}, err
	}
	if in.Ended != nil {
		a.Ended = func(r runner.Result, ended error) error {
			p, err := c.readPut(t, i, r, ended)
			return in.Ended(p, r, err)
		}
	}
	r, err := c.o.Types.Ask(ctx, target(t), a)
	if unfilled != nil {
		return artifact.Put{}, unfilled
	}
	return c.readPut(t, i, r, err)
}

func putStdin(i artifact.Info, in artifact.PutInput) ([]byte, error) {
	source, err := object(in.Source)
	if err != nil {
		return nil, err
	}
	params, err := object(in.Params)
	if err != nil {
		return nil, err
	}
	if i.Protocol == artifact.Concourse1 {
		return encode(putV1{source, unlessEmpty(params)})
	}
	config, err := overlay(source, params)
	if err != nil {
		return nil, err
	}
	return encode(putV2{config, responsePath})
}

// ReadPut implements artifact.Client.
func (c *Client) ReadPut(t artifact.Target, i artifact.Info, r runner.Result) (artifact.Put, error) {
	return c.readPut(t, i, r, c.o.Types.Ended(target(t), putAsk(t, i), r))
}

// readPut reads the answer of a put. For one that failed it returns what can be read.
func (c *Client) readPut(t artifact.Target, i artifact.Info, r runner.Result, ended error) (p artifact.Put, err error) {
	if i.Protocol == artifact.Concourse1 {
		p, err = putV1Said(r.Stdout)
	} else {
		p, err = putV2Said(r)
	}
	if ended != nil {
		return p, classed(ended)
	}
	if err != nil {
		return p, classed(c.o.Types.Broken(target(t), putAsk(t, i), r.Stdout, err))
	}
	if touched := spaces(p); len(touched) > 1 {
		names := strings.Join(slices.Sorted(maps.Keys(touched)), ", ")
		err := fmt.Errorf("it changed %d spaces (%s), and may change one", len(touched), names)
		return p, classed(c.o.Types.Broken(target(t), putAsk(t, i), nil, err))
	}
	return p, nil
}

func putV1Said(stdout []byte) (p artifact.Put, err error) {
	if len(stdout) > typeclient.KeepSaid {
		return p, fmt.Errorf("it has more than %d bytes", typeclient.KeepSaid)
	}
	v, m, err := readMade(stdout)
	switch {
	case err != nil && len(bytes.TrimSpace(stdout)) == 0:
		return p, errNothing
	case err != nil:
		return p, err
	case v == nil:
		return p, errors.New("it names no version")
	}
	return artifact.Put{Created: []artifact.Versioned{{Version: v}}, Metadata: m}, nil
}

func putV2Said(r runner.Result) (artifact.Put, error) {
	if r.Fault != "" {
		return artifact.Put{}, &runner.AnswerError{Reason: r.Fault}
	}
	var answer io.Reader
	if r.Answer != nil {
		answer = bytes.NewReader(r.Answer)
	}
	return putLines(answer)
}
