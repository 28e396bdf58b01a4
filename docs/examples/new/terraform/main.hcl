# A Terraform provider as a resource type, unchanged. "terraform init" puts providers below
# .terraform/providers; copy the one of hashicorp/time here, as terraform-provider-time. Run:
#
#   head -c 24 /dev/urandom | base64 >passphrase
#   deployster image pack -terraform-provider ./terraform-provider-time -t tf/time:0
#   deployster plan -out=plan.bin
#   deployster apply plan.bin
#
# "deployster type inspect tf/time:0" lists its kinds of resources.

# Providers may record secrets in their states, so the state is encrypted. Keep a copy of
# the passphrase elsewhere: without it nobody can read the state.
deployster {
  encryption {
    passphrase_file = "passphrase"
  }
}

type "time" {
  image   = "tf/time:0"
  network = "none" # this provider needs none
}

# The kind is what Terraform calls the resource.
resource "week" {
  type   = "${type.time}#time_offset"
  config = { offset_days = 7 }
}

output "next_week" {
  value = resource.week.state.rfc3339
}
