package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"deployster/protocol"
)

// limit is how long a send may take: less than deployster waits.
const limit = 25 * time.Second

// kind is one way to send: the part after # in the name of the image.
type kind struct {
	label  string
	schema func() (json.RawMessage, error) // of its config
	send   func(ctx context.Context, in message) error
}

func kinds() map[string]kind {
	return map[string]kind{
		"webhook": {"Webhook", protocol.SchemaOf[webhookConfig], sendWebhook},
		"slack":   {"Slack", protocol.SchemaOf[slackConfig], sendSlack},
		"smtp":    {"Mail", protocol.SchemaOf[mailConfig], sendMail},
	}
}

// message is the stdin.
type message struct {
	protocol.InitInput
	Config  json.RawMessage `json:"config"`
	Event   json.RawMessage `json:"event"`
	Summary string          `json:"summary"`
}

// answer is the answer to init.
type answer struct {
	Protocol     int              `json:"protocol"`
	Label        string           `json:"label"`
	ConfigSchema json.RawMessage  `json:"config_schema"`
	Notify       protocol.Command `json:"notify"`
}

func main() {
	ctx, end := context.WithTimeout(context.Background(), limit)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout)
	end()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run answers init, or with the argument notify sends a message.
func run(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	var in message
	if err := json.NewDecoder(stdin).Decode(&in); err != nil {
		return fmt.Errorf("stdin is not what deployster sends: %w", err)
	}
	image, name, _ := strings.Cut(in.Type, "#")
	k, known := kinds()[name]
	switch {
	case !known:
		return fmt.Errorf("this image has several kinds: write %s#KIND, where KIND is one of %s", image,
			strings.Join(slices.Sorted(maps.Keys(kinds())), ", "))
	case len(args) == 1 && args[0] == protocol.NotifyFeature:
		return k.send(ctx, in)
	case !in.Has(protocol.NotifyFeature):
		return fmt.Errorf("deployster %s does not support notifications: use a newer version", in.Version)
	}
	schema, err := k.schema()
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(answer{Protocol: protocol.MaxVersion, Label: k.label, ConfigSchema: schema,
		Notify: protocol.Command{Args: []string{protocol.NotifyFeature}}})
}
