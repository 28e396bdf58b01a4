module "a" { source = "hashicorp/consul/aws" }
module "b" { source = "git::https://example.com/x.git" }
# error 1:23 registry
# error 2:23 repository
