package state

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"deployster/internal/base/sharedlog"
	"deployster/internal/runtime/stores/dir"
	"deployster/internal/runtime/stores/postgres"
	"deployster/internal/runtime/stores/s3"
	"deployster/internal/testkit/services"
)

// storeKind is a kind of store in which a shared state can lie.
type storeKind struct {
	name  string
	slow  time.Duration // how many times as long its calls may take as those of a directory
	empty func(t *testing.T) opener
}

// opener opens one and the same place as often as it is called.
type opener func() sharedlog.Store

// inDir keeps states in directories.
func inDir() storeKind {
	return storeKind{"dir", 1, func(t *testing.T) opener {
		root := filepath.Join(t.TempDir(), "state")
		return func() sharedlog.Store { return dir.New(root) }
	}}
}

// onServers keeps states in a PostgreSQL and an S3 of the test.
func onServers(t *testing.T) []storeKind {
	for name, value := range services.Credentials() {
		t.Setenv(name, value)
	}
	var places atomic.Int64
	kind := func(name string, open func(place string) (sharedlog.Store, error)) storeKind {
		return storeKind{name, 5, func(t *testing.T) opener {
			place := fmt.Sprintf("place%d", places.Add(1))
			return func() sharedlog.Store {
				s, err := open(place)
				ok(t, err)
				return s
			}
		}}
	}
	database, bucket := services.Postgres(t), services.S3(t)
	return []storeKind{
		kind("postgres", func(place string) (sharedlog.Store, error) {
			return postgres.New("postgres://deploy@"+database+"/state?sslmode=disable", place)
		}),
		kind("s3", func(place string) (sharedlog.Store, error) {
			return s3.New(s3.Options{Bucket: "state", Prefix: place, Endpoint: bucket, Insecure: true, Region: "eu-central-1", PathStyle: true})
		}),
	}
}

// What a shared state promises holds in each store.
func TestRemote_KeepsItsPromises(t *testing.T) {
	for _, kind := range append(onServers(t), inDir()) {
		for name, keeps := range map[string]func(*testing.T, storeKind){
			"has one holder":                 remoteHasOneHolder,
			"is one state for all":           remoteIsOneStateForAll,
			"copies":                         remoteCopies,
			"is encrypted":                   remoteIsEncrypted,
			"takeover of a dead machine":     remoteTakeoverOfADeadMachine,
			"takeover of a dead process":     remoteTakeoverOfADeadProcess,
			"sleeper is refused":             remoteSleeperIsRefused,
			"network is cut":                 remoteNetworkIsCut,
			"unlock ends a claim":            remoteUnlockEndsAClaim,
			"looks again after a suspension": remoteLooksAgainAfterASuspension,
			"restore under a journal":        remoteRestoreUnderAJournal,
			"takeover that fails":            remoteTakeoverThatFails,
			"repairs push out no copies":     remoteRepairsPushOutNone,
			"keeps what waits":               remoteKeepsWhatWaits,
			"notices damage":                 remoteNoticesDamage,
		} {
			t.Run(kind.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				keeps(t, kind)
			})
		}
	}
}
