"""The family of MPIs that what calls MPI is compiled for: openmpi or mpich."""

def _family_impl(_ctx):
    return []

family = rule(
    doc = "A flag of the build.",
    implementation = _family_impl,
    build_setting = config.string(flag = True),
)
