package protocol

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

type parcel struct{}

type parcelConfig struct {
	Do string `json:"do"`
}

type parcelState struct {
	ID string `json:"id"`
}

func (parcel) Read(_ context.Context, c *Call[parcelConfig, parcelState]) (*parcelState, error) {
	var id string
	if known, err := c.Recall(&id); err != nil || !known {
		return nil, err
	}
	return &parcelState{ID: id}, c.Remember(id + "!")
}

func (parcel) Write(_ context.Context, c *Call[parcelConfig, parcelState]) error {
	_, _ = c.Out.Write([]byte("for people\n"))
	switch c.Config.Do {
	case "remember":
		return c.Remember("p-1")
	case "half":
		return errors.Join(c.Remember("p-2"), errors.New("lost on the way"))
	case "nothing":
		c.Forget()
		return errors.New("closed")
	case "fail":
		return errors.New("nobody knows")
	}
	return nil
}

func (parcel) Delete(context.Context, *Call[parcelConfig, parcelState]) error { return nil }

func TestMemory_WhatAnActionSays(t *testing.T) {
	for name, c := range map[string]struct {
		args, do, memory, want string
		code                   int
	}{
		"made":                      {"create", "remember", "", `{"memory":"p-1"}`, 0},
		"failed when it was made":   {"create", "half", "", `{"memory":"p-2"}`, 1},
		"failed before":             {"create", "nothing", "", `{"memory":null}`, 1},
		"failed, and does not know": {"create", "fail", "", "", 1},
		"changed":                   {"update", "", `,"memory":"p-0"`, `{"memory":"p-0"}`, 0},
		"made, and nothing to say":  {"create", "", "", `{"memory":null}`, 0},
		"removed":                   {"delete", "", `,"memory":"p-0"`, `{"memory":null}`, 0},
		"read":                      {"state", "", `,"memory":"p-0"`, `"memory":"p-0!"`, 0},
		"read without anything":     {"state", "", "", `"status":"STALE"`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var out, log bytes.Buffer
			in := `{"name":"a","config":{"do":"` + c.do + `"}` + c.memory + `}`
			code := Run(t.Context(), parcel{}, About{Memory: true}, Process{Args: []string{c.args}, Stdin: strings.NewReader(in), Stdout: &out, Stderr: &log})
			if code != c.code || c.want == "" && out.Len() > 0 || !strings.Contains(out.String(), c.want) {
				t.Errorf("exit %d, %q, and must be %d, %q (%s)", code, out.String(), c.code, c.want, log.String())
			}
			if strings.Contains(out.String(), "people") {
				t.Errorf("what is for people stands in the answer: %s", out.String())
			}
		})
	}
}
