"""Refusals of samplers, of rates from faults, and of decoders."""

from .rows import Row

_MEMORY = "Circuit(memory(before_round_data_depolarization=0.01))"
_NOISE = "X_ERROR(0.1) 0 1 / M 0 1 / DETECTOR rec[-1] / "
_OBSERVED = f"c('{_NOISE}OBSERVABLE_INCLUDE(0) rec[-2]')"
_T_STATE = "RX 0 / T 0 / %s(0.01) 0 / EXP_VAL X0 Y0"
_FRAMES = "OBSERVABLE_INCLUDE(0) X0 / OBSERVABLE_INCLUDE(1) Y0"
_CHECK = "snc.LogicalStateCheck((0, 1), (%s), (0.5**0.5, 0.5**0.5))"
_DECIDED = "X_ERROR(0.1) 0 / M 0 / DETECTOR rec[-1] / DECODE 0 / CX rec[-1] 1 / %s / M 1 2 / OBSERVABLE_INCLUDE(0) rec[-2] / OBSERVABLE_INCLUDE(1) rec[-1]"
_DECIDES = f"c('{_DECIDED % 'X_ERROR(0.1) 1'}')"

RATES = [
    # Decisions
    Row(f"{_DECIDES}.logical_error_rate(decoder='pymatching', confidence=True)", 'decoder="pymatching"', f"{_DECIDES}.logical_error_rate(decoder='pymatching', relative_error=0.1)"),
    Row(f"{_OBSERVED}.logical_error_rate(decoder='pymatching', loop_decoder='pymatching')", "Leave loop_decoder out", f"{_OBSERVED}.logical_error_rate(decoder='pymatching', relative_error=0.1)"),
    # Rates from faults
    Row(f"c('{_NOISE}').logical_error_rate(postselection_mask='all')", "OBSERVABLE_INCLUDE", f"{_OBSERVED}.logical_error_rate(postselection_mask='all')"),
    Row(f"{_OBSERVED}.logical_error_rate()", 'postselection_mask="all"', f"{_OBSERVED}.logical_error_rate(postselection_mask='all')"),
    Row(f"{_OBSERVED}.fault_distance()", 'logical_error_rate(decoder="pymatching")', f"{_MEMORY}.logical_error_rate(decoder='pymatching', relative_error=0.1)"),
    Row("c('RX 0 / T 0 / Z_ERROR(0.1) 0 / MX 0 / OBSERVABLE_INCLUDE(0) rec[-1]').fault_distance()", "without noise in a basis", "c('RX 0 / T 0 / Z_ERROR(0.1) 0 / T_DAG 0 / MX 0 / OBSERVABLE_INCLUDE(0) rec[-1]').fault_distance()"),
    Row("c('RX 0 / T 0 / X_ERROR(0.1) 0 / MX 0 / DETECTOR rec[-1] / M 1 / OBSERVABLE_INCLUDE(0) rec[-1]').logical_error_rate(decoder='pymatching')", "detector", "c('M 0 / DETECTOR rec[-1] / X_ERROR(0.1) 1 / M 1 / OBSERVABLE_INCLUDE(0) rec[-1]').logical_error_rate(decoder='pymatching', relative_error=0.1)"),
    Row("c('R_X(0.5) 0 / T 0 / X_ERROR(0.01) 0 / T 0 / OBSERVABLE_INCLUDE(0) X0').fault_distance()", "MPP X0", "c('RX 0 / T 0 / Z_ERROR(0.1) 0 / T_DAG 0 / MPP X0 / OBSERVABLE_INCLUDE(0) rec[-1]').fault_distance()"),
    Row(f"{_OBSERVED}.logical_error_rate(confidence=True)", 'decoder="pymatching"', f"{_MEMORY}.logical_error_rate(decoder='pymatching', relative_error=0.1)"),
    Row(f"c('{_NOISE}').logical_error_rate(decoder='pymatching')", "OBSERVABLE_INCLUDE", f"{_OBSERVED}.logical_error_rate(decoder='pymatching', relative_error=0.1)"),
    Row("c('X_ERROR(0.1) 0 / M 0 / OBSERVABLE_INCLUDE(0) rec[-1]').logical_error_rate(decoder='pymatching')", "Leave out decoder=", "c('X_ERROR(0.1) 0 / M 0 / OBSERVABLE_INCLUDE(0) rec[-1]').logical_error_rate()"),
    Row(f"{_MEMORY}.logical_error_rate(decoder='pymatching', postselected_observables_mask='all')", "soft_pymatching", "shots(sp.SoftDecodingSampler(), memory(before_round_data_depolarization=0.01), postselected_observables_mask=np.array([1], dtype=np.uint8))"),
    Row(f"{_MEMORY}.logical_error_rate(decoder='pymatching', state_check='T')", 'decoder="desaturated"', f"{_MEMORY}.logical_error_rate(postselection_mask='all', relative_error=0.1)"),
    Row(f"{_MEMORY}.logical_error_rate(decoder=sinter.Decoder)", "Pass an object", f"{_MEMORY}.logical_error_rate(decoder=sp.MatchingGapDecoder(), relative_error=0.1)"),
    Row(f"{_MEMORY}.logical_error_rate(decoder='mine')", "decoder=MyDecoder()", f"{_MEMORY}.logical_error_rate(decoder=sp.MatchingGapDecoder(), relative_error=0.1)"),
    Row("c('E(0.2) X0 / ELSE_CORRELATED_ERROR(0.2) X1 / M 0 1 / DETECTOR rec[-1] / OBSERVABLE_INCLUDE(0) rec[-2]').logical_error_rate(decoder='pymatching').error_budget('instruction')", 'circuit.error_budget("instruction", decoder="pymatching")', "c('E(0.2) X0 / ELSE_CORRELATED_ERROR(0.2) X1 / M 0 1 / DETECTOR rec[-1] / OBSERVABLE_INCLUDE(0) rec[-2]').error_budget('instruction', decoder='pymatching', shots=1000)"),
    Row("c('LEAKAGE(0.1) 0 / M 0 / OBSERVABLE_INCLUDE(0) rec[-1]').fault_distance()", "circuit.pauli_twirl()", "c('LEAKAGE(0.1) 0 / M 0 / OBSERVABLE_INCLUDE(0) rec[-1]').pauli_twirl().fault_distance()"),
    Row("c('AMPLITUDE_DAMPING(0.1) 0 / M 0 / OBSERVABLE_INCLUDE(0) rec[-1]').faults()", "circuit.pauli_twirl()", "c('AMPLITUDE_DAMPING(0.1) 0 / M 0 / OBSERVABLE_INCLUDE(0) rec[-1]').pauli_twirl().faults()"),
    Row(f"{_OBSERVED}.with_faults(c('X_ERROR(0.1) 7 / M 7').faults())", "circuit.faults()", f"{_OBSERVED}.with_faults([{_OBSERVED}.faults()[0]])"),
    Row("c('PAULI_CHANNEL_1(0.1,0.1,0.1) 0 / M 0').with_faults(c('PAULI_CHANNEL_1(0.1,0.1,0.1) 0 / M 0').faults()[:2])", "Give one of them", "c('PAULI_CHANNEL_1(0.1,0.1,0.1) 0 / M 0').with_faults(c('PAULI_CHANNEL_1(0.1,0.1,0.1) 0 / M 0').faults()[:1])"),
    Row("c('E(0.1) X0 / ELSE_CORRELATED_ERROR(0.1) Y0 / M 0').with_faults(c('E(0.1) X0 / ELSE_CORRELATED_ERROR(0.1) Y0 / M 0').faults()[:2])", "Give one of them", "c('E(0.1) X0 / ELSE_CORRELATED_ERROR(0.1) Y0 / M 0').with_faults(c('E(0.1) X0 / ELSE_CORRELATED_ERROR(0.1) Y0 / M 0').faults()[:1])"),
    # States
    Row(f"c('{_T_STATE % 'Z_ERROR'}').logical_error_rate(state_check='-X')", "Ask for the state that the circuit prepares", f"c('{_T_STATE % 'Z_ERROR'}').logical_error_rate(state_check='T')"),
    Row("c('RX 0 / T 0').logical_error_rate(state_check='T')", "EXP_VAL", f"c('{_T_STATE % 'Z_ERROR'}').logical_error_rate(state_check='T')"),
    Row(f"c('RX 0 / T 0 / Z_ERROR(0.1) 0 / EXP_VAL X0').logical_error_rate(state_check={_CHECK % ''})", "Ask for them with EXP_VAL", f"c('{_T_STATE % 'Z_ERROR'}').logical_error_rate(state_check={_CHECK % ''})"),
    Row(f"c('{_T_STATE % 'Z_ERROR'} / OBSERVABLE_INCLUDE(0) X0').logical_error_rate(state_check='T')", "OBSERVABLE_INCLUDE", f"c('{_T_STATE % 'Z_ERROR'} / {_FRAMES}').logical_error_rate(state_check='T')"),
    Row(f"c('{_T_STATE % 'Z_ERROR'} / M 1 / OBSERVABLE_INCLUDE(0) rec[-1] / OBSERVABLE_INCLUDE(1) rec[-1]').logical_error_rate(state_check={_CHECK % '0, 1'})", "Add OBSERVABLE_INCLUDE", f"c('{_T_STATE % 'Z_ERROR'} / {_FRAMES}').logical_error_rate(state_check={_CHECK % '0, 1'})"),
    Row(f"c('{_T_STATE % 'Z_ERROR'}').logical_error_rate(state_check='T', postselected_observables_mask='all')", "Leave out state_check or postselected_observables_mask", f"c('{_T_STATE % 'Z_ERROR'}').logical_error_rate(state_check='T')"),
    Row("c('RX 0 / T 0 / Z_ERROR(0.1) 0 / EXP_VAL X0').logical_error_rate(state_check=snc.LogicalStateCheck((0,), (), (2**0.5,)))", "Check all components", f"c('{_T_STATE % 'Z_ERROR'}').logical_error_rate(state_check='T')"),
    # Samplers
    Row("c('M 0 / DETECTOR rec[-1]').compile_detector_sampler(seed=1).sample_counts(9)", "sample_kept", "c('M 0 / DETECTOR rec[-1]').compile_detector_sampler(seed=1).sample_kept(9)"),
    Row("c('M 0').compile_sampler(seed=1).sample(1 << 44)", "sample_write", "c('M 0').compile_sampler(seed=1).sample_write(9, filepath=file('out', ''), format='b8')"),
    Row("c('M 0 / DETECTOR rec[-1]').compile_detector_sampler(seed=1).sample(1 << 44)", "sample_write", "c('M 0 / DETECTOR rec[-1]').compile_detector_sampler(seed=1).sample_write(9, filepath=file('out', ''), format='b8')"),
    Row("c('X 0 / M 0 / DETECTOR rec[-1] / OBSERVABLE_INCLUDE(0) rec[-1]').compile_detector_sampler().sample_write(64, filepath=file('out', ''), format='dets', prepend_observables=True, append_observables=True)", "set prepend_observables or append_observables", "c('X 0 / M 0 / DETECTOR rec[-1] / OBSERVABLE_INCLUDE(0) rec[-1]').compile_detector_sampler().sample_write(64, filepath=file('out', ''), format='dets', append_observables=True)"),
    Row("[sampler.seek(2**63 - 1) or sampler.sample(9) for sampler in [c('M 0').compile_sampler(seed=1)]]", "Compile another one, with another seed", "c('M 0').compile_sampler(seed=2).sample(9)"),
    Row(f"{_OBSERVED}.logical_error_rate(postselection_mask='all', max_bytes=1)", "compile_detector_sampler(...).sample_counts(shots)", f"{_OBSERVED}.compile_detector_sampler(postselection_mask='all', seed=1).sample_counts(64)"),
    Row("c('RX 0 1 2 / T 0 1 2 / CX 0 1 1 2 2 0 / T 0 1 2 / MX 0 1 2').compile_sampler(max_active_coordinates=1).sample(1)", "Raise it with max_active_coordinates=", "c('RX 0 1 2 / T 0 1 2 / CX 0 1 1 2 2 0 / T 0 1 2 / MX 0 1 2').compile_sampler(max_active_coordinates=3).sample(1)"),
    Row("c('RX 0 1 2 / T 0 1 2 / CZ 0 1 1 2 / H 0 1 2 / T 0 1 2 / EXP_VAL X0*X1').compile_detector_sampler(max_active_coordinates=1).sample_expectation_values(4)", "Or ask for fewer expectation values", "c('RX 0 1 2 / T 0 1 2 / CZ 0 1 1 2 / H 0 1 2 / T 0 1 2').compile_detector_sampler(max_active_coordinates=1)"),
    Row(f"c('H 0 / S 0 / T 0 / X_ERROR(0.1) 0 / MX 0 / OBSERVABLE_INCLUDE(0) rec[-1] / {_NOISE}').logical_error_rate(decoder='pymatching')", "without noise in a basis", f"c('{_NOISE}OBSERVABLE_INCLUDE(0) rec[-2]').logical_error_rate(decoder='pymatching', relative_error=0.1)"),
    Row("c('RX 1 / T 1 / MX 1 / DETECTOR rec[-1]').detector_error_model()", 'kind="noise_only"', "c('M 1 / DETECTOR rec[-1]').detector_error_model(kind='noise_only')"),
    Row("c('X_ERROR(0.1) 0 / R_X(0.1) 0 / M 0 / OBSERVABLE_INCLUDE(0) rec[-1] / DETECTOR rec[-1]').detector_error_model()", "circuit.pauli_twirl()", "c('X_ERROR(0.1) 0 / R_X(0.1) 0 / M 0 / OBSERVABLE_INCLUDE(0) rec[-1] / DETECTOR rec[-1]').pauli_twirl().detector_error_model()"),
    Row("c('REPEAT 100000 { / M 0 1 / DETECTOR(" + "1," * 99 + "1) rec[-1] / }').get_detector_coordinates()", "give detectors fewer coordinates", "c('REPEAT 100000 { / M 0 1 / DETECTOR(1) rec[-1] / }').get_detector_coordinates()"),
    Row("c('M 0 / RX 1 / T 1 / X_ERROR(0.1) 1 / T_DAG 1 / MX 1 / DETECTOR rec[-1]').detector_error_model()", "Postselect them (postselection_mask)", "c('M 0 / RX 1 / T 1 / X_ERROR(0.1) 1 / T_DAG 1 / MX 1 / DETECTOR rec[-1]').detector_error_model(postselection_mask='all')"),
    Row(f"(lambda rate: rate + rate)({_OBSERVED}.logical_error_rate(decoder='pymatching', seed=1))", "with another seed", f"sum({_OBSERVED}.logical_error_rate(decoder='pymatching', seed=seed) for seed in (1, 2))"),
    Row(f"__import__('pickle').loads(__import__('pickle').dumps({_OBSERVED}.logical_error_rate(postselection_mask='all'))).error_budget('noise')", "estimate it anew", f"{_OBSERVED}.logical_error_rate(postselection_mask='all').error_budget('noise')"),
    Row("c('RX 0 / T 0 / Z_ERROR(0.01) 0 / MX 0 / OBSERVABLE_INCLUDE(0) rec[-1] / RX 1 / T 1 / MX 1 / DETECTOR rec[-1]').logical_error_rate(decoder='desaturated')", "SoftDecodingSampler(decoder=..., error_model=\"noise_only\")", "sp.SoftDecodingSampler(decoder='desaturated', error_model='noise_only')"),
    Row(f"c('{_T_STATE % 'Z_ERROR'} / X_ERROR(0.1) 5 / M 5 / DETECTOR rec[-1]').logical_error_rate(decoder='desaturated')", "with the Pauli targets of each EXP_VAL", f"c('{_T_STATE % 'Z_ERROR'} / {_FRAMES}').logical_error_rate(state_check='T')"),
    Row(f"{_MEMORY}.logical_error_rate(decoder='pymatching', skip_reference_sample=True)", "Leave out skip_reference_sample or decoder", f"{_MEMORY}.logical_error_rate(decoder='pymatching', relative_error=0.1)"),
    Row("c('M(0.1, 0.2) 0 / OBSERVABLE_INCLUDE(0) rec[-1]').fault_distance()", "circuit.pauli_twirl()", "c('M(0.1, 0.2) 0 / OBSERVABLE_INCLUDE(0) rec[-1]').pauli_twirl().fault_distance()"),
    Row(f"c('{_T_STATE % 'Z_ERROR'}').logical_error_rate(state_check='X')", "Check the state that the circuit prepares", f"c('{_T_STATE % 'Z_ERROR'}').logical_error_rate(state_check='T')"),
]  # fmt: skip
