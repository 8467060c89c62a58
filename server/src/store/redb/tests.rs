mod corrupt;
mod disk;
mod failing;
mod model;
mod power_cut;
mod prune;
mod round_trip;
