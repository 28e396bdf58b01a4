package protocol

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

type placed struct {
	Zone string `json:"zone" deployster:"identity"`
}

func TestIdentity_ConsistsOfRequiredFields(t *testing.T) {
	t.Parallel()
	type many struct {
		A string `json:"a" deployster:"identity"`
		B string `json:"b" deployster:"identity"`
		C string `json:"c" deployster:"identity"`
		D string `json:"d" deployster:"identity"`
		E string `json:"e" deployster:"identity"`
		F string `json:"f" deployster:"identity"`
		G string `json:"g" deployster:"identity"`
		H string `json:"h" deployster:"identity"`
		I string `json:"i" deployster:"identity"`
	}
	for name, c := range map[string]struct {
		config  any
		want    []string
		problem string
	}{
		"none": {config: struct {
			Name string `json:"name"`
		}{}},
		"a map": {config: map[string]any{}},
		"some": {config: struct {
			placed
			Name string `json:"a/b" deployster:"identity"`
			Text string `json:"text"`
			Port *int   `json:"port" default:"80" deployster:"identity"`
		}{}, want: []string{"/zone", "/a~1b", "/port"}},
		"within": {config: struct {
			Where placed `json:"where"`
		}{}, want: []string{"/where/zone"}},
		"in a list": {config: struct {
			Where []placed `json:"where"`
		}{}, problem: "may be missing or be many"},
		"behind a pointer": {config: struct {
			Where *placed `json:"where"`
		}{}, problem: "may be missing or be many"},
		"in what is left out when empty": {config: struct {
			Where placed `json:"where,omitzero"`
		}{}, problem: "may be missing or be many"},
		"a secret": {config: struct {
			Key string `json:"key" writeOnly:"true" deployster:"identity"`
		}{}, problem: "a secret cannot be an identity"},
		"optional": {config: struct {
			Name string `json:"name,omitempty" deployster:"identity"`
		}{}, problem: "required or have a default"},
		"misspelt": {config: struct {
			Name string `json:"name" deployster:"identiy"`
		}{}, problem: `must be "identity" or "computed"`},
		"computed": {config: struct {
			Name string `json:"name" deployster:"identity"`
			Zone string `json:"zone,omitempty" deployster:"computed"`
		}{}, want: []string{"/name"}},
		"computed, and yet required": {config: struct {
			Zone string `json:"zone" deployster:"computed"`
		}{}, problem: "only an optional field can be computed"},
		"too many": {config: many{}, problem: "9 fields are marked"},
	} {
		got, err := identityOf(reflect.TypeOf(c.config))
		if problem := ""; err != nil {
			if problem = err.Error(); c.problem == "" || !strings.Contains(problem, c.problem) {
				t.Errorf("%s: %v, want %q", name, err, c.problem)
			}
		} else if c.problem != "" || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q %s", name, got, c.want, c.problem)
		}
	}
}
