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

func TestMemory_WhatAnActionPrints(t *testing.T) {
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

type shelf struct{}

type shelfConfig struct {
	Room  string `json:"room"`
	Width int    `json:"width,omitempty"`
	Note  string `json:"note,omitempty"`
}

type shelfState struct {
	Room  string `json:"room"`
	Width int    `json:"width,omitempty"`
}

func (shelf) Read(_ context.Context, c *Call[shelfConfig, shelfState]) (*shelfState, error) {
	if c.Name == "new" {
		return nil, nil
	}
	return &shelfState{Room: "north", Width: 7}, nil
}

func (shelf) Write(context.Context, *Call[shelfConfig, shelfState]) error { return nil }

// A value that is not known yet is one that will be another, and forecast by nobody.
func TestUnknown_IsExpectedToDiffer(t *testing.T) {
	for in, want := range map[string]string{
		`{"name":"a","config":{"room":null,"width":7},"unknown":["/room"]}`:                `"reasons":[{"path":"/room","message":"known only after other actions"}],"forecast":{"width":7},"unknown":["/room"]}`,
		`{"name":"a","config":{"room":"north","width":7,"note":null},"unknown":["/note"]}`: `{"status":"VALID","state":{"room":"north","width":7}}`,
		`{"name":"new","config":{"room":null,"width":7},"unknown":["/room"]}`:              `{"status":"STALE","actions":[{"name":"create","args":["create"]}],"forecast":{"width":7}}`,
	} {
		var out, log bytes.Buffer
		code := Run(t.Context(), shelf{}, About{Unknowns: true}, Process{Args: []string{"state"}, Stdin: strings.NewReader(in), Stdout: &out, Stderr: &log})
		if code != 0 || !strings.HasSuffix(strings.TrimSpace(out.String()), want) {
			t.Errorf("%s: exit %d, %s%s, want %s", in, code, out.String(), log.String(), want)
		}
	}
}
