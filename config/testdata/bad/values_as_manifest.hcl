name = "hello"
# error 1:1 At the top of a manifest stand blocks alone. Every file of the directory whose name ends in .hcl is a manifest
