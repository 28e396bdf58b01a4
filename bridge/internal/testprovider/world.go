package testprovider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/proto"

	"deployster/bridge/internal/schema"
	"deployster/bridge/internal/tfplugin/tfplugin6"
	"deployster/bridge/internal/value"
)

// Object is the kind whose objects are in a world: a service, whose URL is in the "world"
// attribute of the provider's config. The service chooses their ids.
const Object = "test_object"

func objectSchema() *tfplugin6.Schema {
	s := schemaWith(flagged("value", "optional"), nil)
	s.Block.Attributes = append(s.Block.Attributes, flagged("id", "computed"))
	return s
}

// ask sends a request to the world; a nil result means that the object does not exist.
func (p *Provider) ask(method, id string, body map[string]string) (map[string]string, error) {
	if p.world == "" {
		return nil, errors.New("the config of the provider has no world")
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequest(method, p.world+"/"+id, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	client := http.Client{Timeout: time.Minute}
	answer, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }() // it has been read
	read, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		return nil, err
	case answer.StatusCode == http.StatusNotFound:
		return nil, nil
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("the world answers %s", answer.Status)
	}
	var out map[string]string
	return out, json.Unmarshal(read, &out)
}

// readObject returns the state of an object; null if it does not exist.
func (p *Provider) readObject(was cty.Value) (cty.Value, error) {
	if was.IsNull() || was.GetAttr("id").IsNull() {
		return cty.NullVal(was.Type()), nil
	}
	found, err := p.ask(http.MethodGet, was.GetAttr("id").AsString(), nil)
	if err != nil || found == nil {
		return cty.NullVal(was.Type()), err
	}
	out := was.AsValueMap()
	for _, name := range []string{"label", "value"} {
		if out[name] = cty.NullVal(cty.String); found[name] != "" {
			out[name] = cty.StringVal(found[name])
		}
	}
	return cty.ObjectVal(out), nil
}

// applyObject creates, changes or removes an object.
func (p *Provider) applyObject(b *schema.Block, prior, planned cty.Value) (proto.Message, error) {
	var err error
	made := planned
	switch {
	case planned.IsNull():
		_, err = p.ask(http.MethodDelete, prior.GetAttr("id").AsString(), nil)
	default:
		body := map[string]string{"label": planned.GetAttr("label").AsString()}
		if v := planned.GetAttr("value"); !v.IsNull() {
			body["value"] = v.AsString()
		}
		method, id := http.MethodPost, ""
		if !prior.IsNull() {
			method, id = http.MethodPut, prior.GetAttr("id").AsString()
		}
		var said map[string]string
		if said, err = p.ask(method, id, body); err == nil && said == nil {
			err = errors.New("it does not exist any more")
		}
		out := resolve(planned, "").AsValueMap()
		out["id"] = cty.StringVal(said["id"])
		made = cty.ObjectVal(out)
	}
	if err != nil && planned.IsNull() { // a failed removal returns the prior state, as from many providers
		packed, _ := value.Pack(prior, b.Type()) // cannot fail: prior was decoded from such a value
		out := failed(&tfplugin6.ApplyResourceChange_Request{}, err).(*tfplugin6.ApplyResourceChange_Response)
		out.NewState = packed
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	packed, err := value.Pack(made, b.Type())
	return &tfplugin6.ApplyResourceChange_Response{NewState: packed}, err
}
