// Command cert is a resource type in Go: an X.509 certificate and its key,
// below the plug "root", signed by itself or by another one of its kind.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"deployster/protocol"
)

const initAnswer = `{ "protocol": 2, "label": "Certificate", "absent": true, "identity": ["/path"], "reuse": true, "reuse_actions": true,
  "config_schema": { "type": "object", "additionalProperties": false, "required": ["path", "common_name"],
    "properties": {
      "path":        { "type": "string", "pattern": "^[A-Za-z0-9_-]+$" },
      "common_name": { "type": "string", "minLength": 1 },
      "dns_names":   { "type": "array", "items": { "type": "string", "minLength": 1 } },
      "ca":          { "type": "string", "description": "path of the certificate that signs; none: it signs itself" } } },
  "plugs": { "root": { "container_path": "/root-dir", "writable": true } },
  "state_action": { "args": ["state"] } }`

// config is what a manifest says of a certificate.
type config struct {
	Path       string   `json:"path"`
	CommonName string   `json:"common_name"`
	DNSNames   []string `json:"dns_names"`
	CA         string   `json:"ca"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		fmt.Println(initAnswer)
		return nil
	}
	var in protocol.StateInput
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		return err
	}
	var c config
	if err := json.Unmarshal(in.Config, &c); err != nil {
		return err
	}
	switch args[0] {
	case "state":
		return json.NewEncoder(os.Stdout).Encode(look(c, in.Intent))
	case "issue":
		return issue(c)
	case "remove":
		return remove(c)
	}
	return fmt.Errorf("unknown action %q", args[0])
}

// look compares the certificate that exists with the declared one.
func look(c config, intent protocol.Intent) map[string]any {
	have, problem := load(c.Path)
	if intent == protocol.Absent {
		if have == nil {
			return map[string]any{"status": "MISSING"}
		}
		return stale(have, "", "remove", "Remove the certificate "+c.Path)
	}
	if have == nil {
		return stale(nil, problem, "issue", "Issue a certificate for "+c.CommonName)
	}
	if problem = fits(have, c); problem != "" {
		return stale(have, problem, "issue", "Issue the certificate for "+c.CommonName+" again")
	}
	return map[string]any{"status": "VALID", "state": describe(have)}
}

func stale(have *pair, problem, action, description string) map[string]any {
	answer := map[string]any{"status": "STALE", "actions": []any{
		map[string]any{"name": action, "description": description, "args": []string{action}}}}
	if have != nil {
		answer["staleState"] = describe(have)
	}
	if problem = strings.TrimSpace(problem); problem != "" {
		answer["reasons"] = []any{map[string]any{"message": problem}}
	}
	return answer
}
