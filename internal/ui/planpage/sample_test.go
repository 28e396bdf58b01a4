package planpage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"deployster/config"
	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/internal/ui/jsondiff"
	"deployster/internal/ui/render"
	"deployster/plan"
	"deployster/plan/artifacts"
	"deployster/plan/change"
	"deployster/plan/reason"
	"deployster/protocol"
	"deployster/state"
)

// changes is what the pages of plans show.
func changes(s *plan.Step) (jsondiff.Diff, map[string][]string) { return render.Changes(s, nil) }

func raw(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// finish fills in what follows from the resources and edges of a plan.
func finish(p *plan.Plan) *plan.Plan {
	p.Format, p.Deployster, p.Workspace, p.Lineage, p.Serial = plan.Format, "0.1.0", "/srv/www", "3f1c9a52-8d0e-4b7e-9a51-0e6d2c4b7f10", 41
	p.Created = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	layers, err := p.Before().Layers()
	if err != nil {
		panic(err)
	}
	p.Layers = layers
	return p
}

func act(name, description string, args ...string) protocol.Action {
	return protocol.Action{Name: name, Description: description, Command: protocol.Command{Args: args}}
}

// sample is a plan as people have them, with one of everything.
func sample() *plan.Plan {
	digest := "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	ty := func(label string) protocol.Type { return protocol.Type{Digest: digest, Label: label} }
	page := strings.Repeat("worker_processes auto;\nevents { worker_connections 1024; }\n", 2)
	p := &plan.Plan{
		Resources: map[string]*plan.Step{
			"network": {Type: "acme/network:2", Init: ty("Network"), Config: raw(map[string]any{"cidr": "10.0.0.0/16"}),
				Source: "main.hcl:3", Part: &change.Valid{Answer: change.Answer{State: raw(map[string]any{"cidr": "10.0.0.0/16", "id": "net-01"})}}},
			"disk": {Type: "acme/disk:1.2", Init: ty("Disk"), Source: "main.hcl:12", Protect: true,
				Config: raw(map[string]any{"name": "data", "size": "400gb", "tags": map[string]any{"owner": "web", "tier": "gold"}}),
				Part: &change.Update{Answer: change.Answer{Stale: raw(map[string]any{"name": "data", "size": "200gb",
					"tags": map[string]any{"owner": "ops"}, "id": "disk-77"}), Actions: []protocol.Action{act("grow",
					"Grow the disk by 200 GB, online", "grow", "--online"), act("label", "")}, Reasons: []protocol.Reason{{Path: "/size",
					Message: "The disk was shrunk by hand on Friday; growing it takes about a minute."}}}, Since: change.Since{Drifted: true}}},
			`module.site.conf["nginx"]`: {Type: "acme/file:1", Init: ty("File"), Source: "site/main.hcl:8",
				Config: raw(map[string]any{"path": "/etc/nginx/nginx.conf", "content": page + "server { listen 443 ssl; }\n# end\n"}),
				Mounts: []runner.Mount{{Source: "/etc/nginx", Target: "/files", Writable: true}},
				Part: &change.Update{Answer: change.Answer{Stale: raw(map[string]any{"path": "/etc/nginx/nginx.conf",
					"content": page + "server { listen 80; }\n# end\n"}), Actions: []protocol.Action{act("write", "Write the file")}}}},
			`module.site.module.tls.cert`: {Type: "acme/cert:3", Init: ty("Certificate"), Source: "tls/main.hcl:2",
				Sensitive: []string{"/key"}, Config: raw(map[string]any{"host": "www.example.org", "days": 90,
					"key": "-----BEGIN PRIVATE KEY-----", "sans": []any{"example.org", "static.example.org"}}), Settings: runner.Settings{User: "0"},
				Part: &change.Create{Answer: change.Answer{Actions: []protocol.Action{act("issue", "Issue a certificate")}}}},
			"www": {Type: "acme/vm:7", Init: ty("Virtual machine"),
				Reason: reason.New(reason.NotCreated, "module.site.module.tls.cert"), Source: "main.hcl:30", Config: raw(map[string]any{"image": "debian-13",
					"cert": map[string]any{"$unknown": "x"}, "cpus": 4}), Unknown: map[string]string{"/cert": "module.site.module.tls.cert"},
				Part: &change.Deferred{Expected: plan.Create}},
			"dns": {Type: "acme/dns:1", Certainty: plan.MayChange, Init: ty("DNS record"), Reason: reason.New(reason.Failed, "www may get another address"),
				Config: raw(map[string]any{"name": "www"}), Source: "main.hcl:41",
				Part: &change.Valid{Answer: change.Answer{State: raw(map[string]any{"name": "www", "ip": "10.0.3.7"})}}},
			"old_disk": {Type: "acme/disk:1.2", Init: ty("Disk"), Reason: reason.New(reason.Failed, "it is no longer declared"),
				Config: raw(map[string]any{"name": "scratch"}),
				Part: &change.Destroy{Answer: change.Answer{Stale: raw(map[string]any{"name": "scratch", "size": "50gb"}),
					Actions: []protocol.Action{act("delete", "Delete the disk and what is on it")}}}},
			"metrics": {Type: "acme/metrics:1", Init: ty("Dashboard"), Config: raw(map[string]any{"board": "www"}),
				Part: &change.Valid{Answer: change.Answer{State: raw(map[string]any{"board": "www"})}, Found: change.Found{Adopted: true}}},
			"greeting": {Type: "acme/file:1", MovedFrom: "hello", MovedWhy: "identity", Init: protocol.Type{Digest: digest,
				Label: "File", Identity: []string{"/path"}}, Config: raw(map[string]any{"path": "/etc/motd"}), Source: "main.hcl:50",
				Part: &change.Valid{Answer: change.Answer{State: raw(map[string]any{"path": "/etc/motd"})}}},
			"index": {Type: "acme/index:2", Init: ty("Search index"), Reason: reason.New(reason.Failed, "resource.www is deferred"),
				Source: "main.hcl:55", Config: raw(map[string]any{"host": map[string]any{"$unknown": "resource.www.state.ip"}, "shards": 4}),
				Unknown: map[string]string{"/host": "resource.www.state.ip"}, Part: &change.Deferred{Expected: plan.Update,
					Was: &change.Was{State: raw(map[string]any{"host": "10.0.3.7", "shards": 2})}}},
			"service": {Type: "acme/service:1", Init: ty("Service"), Source: "main.hcl:60",
				Notes: []*reason.Reason{reason.New(reason.MayStay)}, Config: raw(map[string]any{"name": "www"}),
				Part: &change.Valid{Answer: change.Answer{State: raw(map[string]any{"name": "www"})},
					Found: change.Found{Edited: []jsondoc.Edit{{Path: "/tier", How: jsondoc.Removed}}}}},
			"legacy": {Type: "acme/hook:1", Init: ty("Hook"), Reason: reason.New(reason.Failed, "its type cannot remove it"),
				Config: raw(map[string]any{}), Part: &change.Forget{}},
		},
		Edges: []plan.Edge{{From: "network", To: "disk", Origin: "reference"}, {From: "disk", To: "www", Origin: "dependency"}, {From: "module.site.module.tls.cert", To: "www", Origin: "reference"},
			{From: "module.site.module.tls.cert", To: `module.site.conf["nginx"]`, Origin: "depends_on"}, {From: `module.site.conf["nginx"]`, To: "www", Origin: "reference"}, {From: "www", To: "dns", Origin: "reference"}, {From: "www", To: "index", Origin: "reference"}, {From: "www", To: "old_disk", Origin: "removal"}},
		Outputs:   map[string]plan.Output{"address": {Value: raw("10.0.3.7"), Changed: true}, "password": {Value: raw("hunter2hunter2"), Sensitive: true}},
		Variables: map[string]json.RawMessage{"size": raw(map[string]any{"value": "400gb", "type": "string"})},
		Checks:    []config.CheckResult{{Name: "reachable", Status: config.CheckPass}, {Name: "cheap", Status: config.CheckFail, Messages: []string{"The disks cost more than 100 a month."}}},
	}
	p.Summary = plan.Summary{Valid: 5, Create: 1, Update: 2, Destroy: 1, Forget: 1, Deferred: 2, Move: 1, Adopt: 1, MayChange: 1, Expected: plan.Expected{Create: 1, Update: 1}}
	p.Artifacts = map[string]artifacts.Pin{"site": pinned("main", "c3d4e5f60718293a4b5c6d7e8f9012345678abcd", "a1b2c3d"), "base": pinned("", "1.1.0", ""), "lib": pinned("", "2.0", "2.0")}
	web := runner.Host{Name: `web["a"]`, Address: "10.0.0.5", User: "deploy"}
	p.Resources["dns"].Settings.Host, p.Resources["disk"].Settings.Host = &web, &web
	p.Hosts = map[string]router.Pin{web.Name: {Address: web.String(), Machine: "m1", Facts: &protocol.HostFacts{Hostname: "web-a", OS: "debian", OSVersion: "13",
		Arch: "amd64", CPUs: 4, Memory: 8 << 30}}, `web["b"]`: {Address: "deploy@10.0.0.6", Unreachable: "ssh: connect to host 10.0.0.6 port 22: No route to host"},
		"new": {Address: "known after apply"}}
	p.Resources["dns"].Timeouts = change.Timeouts{State: state.Duration(time.Minute)}
	return finish(p)
}

// pinned is a version that a plan uses, and the one that was used before.
func pinned(space, now, was string) artifacts.Pin {
	p := artifacts.Pin{Pin: state.Pin{Type: "acme/git:1", Recipe: artifact.Recipe{Space: space, Version: artifact.Version{"ref": now}}}}
	if was != "" {
		p.Was = artifact.Version{"ref": was}
	}
	if p.Moves() && was != "" {
		p.Metadata, p.Newer = artifact.Metadata{{Name: "message", Value: "Fix the header"}, {Name: "author", Value: "ann"}}, 3
	}
	return p
}

// big is a plan of n resources in modules, a tenth of which change.
func big(n int) *plan.Plan {
	p := &plan.Plan{Resources: map[string]*plan.Step{}, Outputs: map[string]plan.Output{}}
	last := ""
	for i := range n {
		addr := fmt.Sprintf(`module.region%d.module.team%d.vm["host-%05d"]`, i%5, i/5%8, i)
		s := &plan.Step{Type: fmt.Sprintf("acme/vm%d:1", i%7), Init: protocol.Type{Digest: fmt.Sprintf("sha256:%064d", i%7),
			Label: "Virtual machine"}, Source: fmt.Sprintf("team%d.hcl:%d", i%8, i),
			Config: raw(map[string]any{"name": fmt.Sprintf("host-%05d", i), "cpus": i % 9, "zone": "europe-west1-b", "tags": []any{"a", "b",
				fmt.Sprintf("t%d", i)}}), Part: &change.Valid{}}
		if i%10 == 3 {
			stale := raw(map[string]any{"name": fmt.Sprintf("host-%05d", i), "cpus": i%9 + 1, "zone": "europe-west1-c", "tags": []any{"a", "b"}})
			s.Part = &change.Update{Answer: change.Answer{Stale: stale,
				Actions: []protocol.Action{act("resize", "Stop it, resize it, start it", "resize"), act("retag", "")}}}
		} else if i%10 == 7 && i%20 == 7 {
			s.Part = &change.Create{Answer: change.Answer{Actions: []protocol.Action{act("boot", "Make it and start it")}}}
		} else {
			s.Part = &change.Valid{Answer: change.Answer{State: s.Config}}
		}
		p.Resources[addr] = s
		if last != "" && i%4 != 0 {
			p.Edges = append(p.Edges, plan.Edge{From: last, To: addr, Origin: "reference"})
		}
		last = addr
	}
	return finish(p)
}

// written gives the page of a plan.
func written(t testing.TB, p *plan.Plan) []byte {
	t.Helper()
	var out bytes.Buffer
	const some = "sha256:a1e9156054e04fac899ae9f275132cdc07a5dbc4ea2c2ad3a1ffc6e0d253681f"
	if err := Write(&out, Page{Plan: p, File: "plan.bin", Digest: some, SignedBy: []string{some}, Changes: changes}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
